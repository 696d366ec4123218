import type { AGENTS } from '../../src/effects/brains/agents/agent-catalog.ts'
import type { FailureKind } from '../../src/effects/brains/brain.ts'
import { type Answer, calls } from '../providers/answer.ts'

/** What a provider does to an agent. */
export type Fault = 'unauthorized' | 'rate_limited' | 'empty' | 'hung'

/** A real agent, and how a model talks with it. */
export interface RealAgent {
  readonly agent: keyof typeof AGENTS
  readonly mode: 'acp' | 'headless'
  /** Its own variables, and the files that it finds in its home, for a provider at that address. */
  readonly variables: (url: string) => Readonly<Record<string, string>>
  readonly files?: (url: string) => Readonly<Record<string, string>>
  /** Files of a home whose user lets it run commands unasked, in each way that there is. */
  readonly trustingFiles?: Readonly<Record<string, string>>
  readonly model?: string
  /** A model's call of its own tool that replaces `one` by `two` in a.txt. */
  readonly edit: Answer
  readonly shell: (command: string) => Answer
  /** A shell command that is to run outside its own sandbox; absent where it has none. */
  readonly shellBeyond?: (command: string) => Answer
  /** What our tool is called in its requests. */
  readonly done: string
  /** Whether it tells while it works how many tokens it has used. */
  readonly tellsTokens?: true
  /** What can be seen of a fault; about others it keeps trying until our clock ends it. */
  readonly sees: Readonly<Partial<Record<Fault, FailureKind>>>
  /** The fault that is left to our clock in a short run: they are all alike there. */
  readonly unseen?: Fault
}

const CLAUDE = {
  agent: 'claude',
  variables: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-api03-own-key-01' }),
  trustingFiles: {
    '.claude/settings.json': JSON.stringify({
      permissions: { allow: ['Bash(printf:*)'] },
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'printf ran%d 42' }] }] },
    }),
  },
  edit: calls('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
  shell: (command) => calls('Bash', { command, description: 'Looks around' }),
  done: 'mcp__slipway__done',
  sees: { unauthorized: 'auth', rate_limited: 'rate_limited', empty: 'network' },
} as const satisfies Omit<RealAgent, 'mode'>

const PATCH = `apply_patch <<'END'
*** Begin Patch
*** Update File: a.txt
@@
-one
+two
*** End Patch
END
`

const CODEX = {
  agent: 'codex',
  variables: () => ({ OPENAI_API_KEY: 'sk-proj-own-key-0123456789abcdef' }),
  files: (url) => ({
    '.codex/config.toml': [
      'model = "gpt-5-test"',
      'model_provider = "loopback"',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = "${url}/v1"`,
      'env_key = "OPENAI_API_KEY"',
      'wire_api = "responses"',
      'request_max_retries = 1',
      'stream_max_retries = 1',
    ].join('\n'),
  }),
  edit: calls('exec_command', { cmd: PATCH }),
  shell: (cmd) => calls('exec_command', { cmd }),
  shellBeyond: (cmd) =>
    calls('exec_command', {
      cmd,
      sandbox_permissions: 'require_escalated',
      justification: 'mcp.slipway.done',
    }),
  done: 'mcp__slipway__done',
  sees: { unauthorized: 'auth', rate_limited: 'rate_limited', empty: 'network' },
} as const satisfies Omit<RealAgent, 'mode'>

/** A hook of Gemini CLI's, which tells its model what it prints. */
const HOOK = `printf '{"hookSpecificOutput":{"additionalContext":"ran%d"}}' 42`

/** All of them, in each way to talk with them. */
export const REAL_AGENTS: readonly RealAgent[] = [
  { ...CLAUDE, mode: 'acp', tellsTokens: true },
  { ...CLAUDE, mode: 'headless', tellsTokens: true },
  { ...CODEX, mode: 'acp', tellsTokens: true, unseen: 'hung' },
  { ...CODEX, mode: 'headless' },
  {
    agent: 'gemini',
    mode: 'acp',
    variables: (url) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: 'AIza-own-key-0123456789',
    }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
    }),
    trustingFiles: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        tools: { allowed: ['run_shell_command'] },
        policyPaths: ['~/policies'],
        hooks: { BeforeAgent: [{ hooks: [{ type: 'command', command: HOOK, name: 'trusted' }] }] },
      }),
    },
    // Else it asks a model which model to ask.
    model: 'gemini-2.5-pro',
    edit: calls('replace', {
      file_path: 'a.txt',
      instruction: 'Replaces a word.',
      old_string: 'one',
      new_string: 'two',
    }),
    shell: (command) => calls('run_shell_command', { command, description: 'Looks around' }),
    done: 'mcp_slipway_done',
    sees: { unauthorized: 'auth', empty: 'invalid_output' },
    unseen: 'rate_limited',
  },
  {
    agent: 'opencode',
    mode: 'acp',
    variables: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'loopback/m',
        small_model: 'loopback/m',
        provider: {
          loopback: {
            npm: '@ai-sdk/openai-compatible',
            name: 'loopback',
            options: { baseURL: `${url}/v1`, apiKey: 'own-key-0123456789' },
            models: { m: { name: 'm' } },
          },
        },
      }),
    }),
    trustingFiles: {
      '.config/opencode/.gitignore': 'node_modules\n',
      '.config/opencode/opencode.json': JSON.stringify({
        permission: { bash: 'allow' },
        default_agent: 'trusted',
        agent: { trusted: { mode: 'primary', permission: { bash: 'allow' } } },
      }),
      '.config/opencode/agent/build.md': '---\npermission:\n  bash: allow\n---\nYou build.\n',
    },
    edit: calls('edit', { filePath: 'a.txt', oldString: 'one', newString: 'two' }),
    shell: (command) => calls('bash', { command, description: 'Looks around' }),
    done: 'slipway_done',
    sees: { unauthorized: 'auth' },
    unseen: 'empty',
  },
]
