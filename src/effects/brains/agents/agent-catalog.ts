import type { Agent } from './agent.ts'
import { TOOL_SERVER } from './agent-prompt.ts'
import { geminiReading } from './gemini-reading.ts'
import { opencodeReading } from './opencode-reading.ts'
import { renewOpencode } from './opencode-renewal.ts'

/** Those tools of Claude Code that do something. */
export const CLAUDE_DOING = ['Bash', 'BashOutput', 'KillShell', 'Edit', 'Write', 'NotebookEdit']

/** Hooks of a user's are commands, and run in the workspace. */
export const CLAUDE_READING = { disableAllHooks: true }

/** Not what a repository configures: it could name another address for the user's key. */
const CLAUDE_OPTIONS = { settingSources: ['user'] }

/** The highest place that a rule can have. */
const GEMINI_DENIED = `[[rule]]
toolName = ["run_shell_command", "replace", "write_file"]
decision = "deny"
priority = 999
`

/**
 * The agents that we know. Of the user's home an agent sees its credentials, which it alone reads
 * and renews, and its settings, which it cannot change: a setting can name a command that would
 * run the next time the user starts it.
 */
export const AGENTS = {
  claude: {
    name: 'claude',
    acp: {
      argv: ['claude-agent-acp'],
      program: ['CLAUDE_CODE_EXECUTABLE', 'claude'],
      model: { variable: 'ANTHROPIC_MODEL' },
      meta: {
        read: {
          claudeCode: {
            options: {
              ...CLAUDE_OPTIONS,
              disallowedTools: CLAUDE_DOING,
              settings: CLAUDE_READING,
            },
          },
        },
        write: { claudeCode: { options: CLAUDE_OPTIONS } },
      },
    },
    headless: { argv: ['claude'], dialect: 'claude' },
    variables: [
      ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'],
      ...['ANTHROPIC_CUSTOM_HEADERS', 'ANTHROPIC_SMALL_FAST_MODEL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    ],
    addresses: ['ANTHROPIC_BASE_URL'],
    environment: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_DISABLE_TERMINAL_TITLE: '1',
      CLAUDE_CODE_MAX_RETRIES: '2',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
      // Else its model may begin before our tools are there.
      MCP_CONNECTION_NONBLOCKING: 'false',
    },
    home: [
      { path: '.claude/.credentials.json', access: 'write' },
      { path: '.claude/settings.json', access: 'read' },
    ],
    hosts: ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com', 'claude.ai'],
  },
  codex: {
    name: 'codex',
    acp: {
      argv: ['codex-acp'],
      program: ['CODEX_PATH', 'codex'],
      namesMessages: true,
      tellsRequests: true,
      modes: {
        ours: { read: 'agent-full-access', write: 'agent-full-access' },
        its_own: { read: 'read-only', write: 'workspace-write' },
      },
    },
    headless: { argv: ['codex'], dialect: 'codex' },
    announcesCalls: true,
    variables: ['CODEX_API_KEY', 'CODEX_CONFIG', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    addresses: ['OPENAI_BASE_URL'],
    home: [
      { path: '.codex/auth.json', access: 'write' },
      { path: '.codex/config.toml', access: 'read' },
    ],
    repository: ['.codex'],
    hosts: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
  },
  gemini: {
    name: 'gemini',
    acp: { argv: ['gemini', '--acp'], model: { flag: '--model' } },
    variables: [
      ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
      ...['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION', 'GOOGLE_GENAI_USE_VERTEXAI'],
    ],
    addresses: ['GOOGLE_GEMINI_BASE_URL'],
    // Where it does not trust a folder it starts no MCP server, and ours is one.
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    reading: {
      // Its user's own are started in the workspace, where `npx` finds a repository's packages first.
      args: ['--allowed-mcp-server-names', TOOL_SERVER],
      // As an option, since the folder of policies is not read where a setting names another.
      file: { flag: '--policy', name: 'reading.toml', content: GEMINI_DENIED },
      home: { path: '.gemini/settings.json', make: geminiReading },
    },
    home: [
      { path: '.gemini/oauth_creds.json', access: 'write' },
      { path: '.gemini/google_accounts.json', access: 'read' },
      { path: '.gemini/settings.json', access: 'read' },
    ],
    // It hands the variables on to whatever it starts, the way to our tools among that.
    repository: ['.gemini', '.env'],
    hosts: [
      ...['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com'],
      ...['oauth2.googleapis.com', 'aiplatform.googleapis.com'],
    ],
  },
  opencode: {
    name: 'opencode',
    acp: { argv: ['opencode', 'acp'] },
    variables: ['OPENCODE_CONFIG_CONTENT', 'OPENCODE_API_KEY'],
    addresses: [],
    environment: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    },
    // It stops altogether when it is refused what it asks for; what is denied it works without.
    permissions: {
      read: { OPENCODE_PERMISSION: '{"edit":"deny","bash":"deny","webfetch":"deny"}' },
      write: { OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask","webfetch":"ask"}' },
    },
    reading: {
      settings: {
        variable: 'OPENCODE_CONFIG_CONTENT',
        files: ['config.json', 'opencode.json', 'opencode.jsonc'].map(
          (name) => `.config/opencode/${name}`,
        ),
        make: opencodeReading,
      },
    },
    home: [
      { path: '.local/share/opencode/auth.json', access: 'write', renew: renewOpencode },
      { path: '.config/opencode', access: 'read', inParts: true },
    ],
    // It takes plugins from these, which are programs, also where it is told to take nothing.
    repository: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    hosts: ['opencode.ai', 'models.dev'],
  },
} as const satisfies Readonly<Record<string, Agent>>
