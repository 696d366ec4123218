import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const PACKAGES = 'test/agents/node_modules'
const PROMPT = 'Run what you are asked to run, one command after another.'

/** How a coding agent is started on a folder, and pointed at our server, without a user's settings. */
export interface CodingAgent {
  readonly name: string
  /** The package whose version it has. */
  readonly package: string
  /** What it calls running a line of shell, and how it wants the line. */
  readonly shell: { readonly tool: string; input(line: string): unknown }
  /** Given an empty home and the address of the server. */
  start(home: string, url: string): Start
}

interface Start {
  readonly argv: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
}

const command = (line: string) => ({ command: line, description: 'Runs a line' })

/** Each in the way that its makers offer for use without a terminal. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    name: 'claude',
    package: '@anthropic-ai/claude-code',
    shell: { tool: 'Bash', input: command },
    start: (_, url) => ({
      argv: [
        fileOf('@anthropic-ai/claude-code-linux-x64/claude'),
        ...['-p', PROMPT, '--output-format', 'stream-json', '--verbose'],
        ...['--allowedTools', 'Bash'],
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
  },
  {
    name: 'codex',
    package: '@openai/codex',
    shell: { tool: 'exec_command', input: (line) => ({ cmd: line }) },
    start(home, url) {
      const provider = `name = "x"\nbase_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"`
      const settings = `model = "test-model"\nmodel_provider = "x"\n[model_providers.x]\n${provider}\n`
      write(join(home, '.codex/config.toml'), settings)
      return {
        argv: [
          process.execPath,
          fileOf('@openai/codex/bin/codex.js'),
          ...['exec', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write', PROMPT],
        ],
        env: { OPENAI_API_KEY: 'none' },
      }
    },
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    shell: { tool: 'run_shell_command', input: command },
    start(home, url) {
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
      write(join(home, '.gemini/settings.json'), JSON.stringify(settings))
      return {
        argv: [
          process.execPath,
          fileOf('@google/gemini-cli/bundle/gemini.js'),
          ...['-p', PROMPT, '-o', 'stream-json', '--approval-mode', 'yolo', '--skip-trust'],
          ...['--model', 'gemini-2.5-pro'],
        ],
        env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url },
      }
    },
  },
  {
    name: 'opencode',
    package: 'opencode-linux-x64',
    shell: { tool: 'bash', input: command },
    start(_, url) {
      const options = { baseURL: `${url}/v1`, apiKey: 'none' }
      const provider = { npm: '@ai-sdk/openai-compatible', options, models: { m: { name: 'm' } } }
      const settings = { model: 'x/m', small_model: 'x/m', provider: { x: provider } }
      return {
        argv: [
          fileOf('opencode-linux-x64/bin/opencode'),
          ...['run', '--format', 'json', '--auto', '-m', 'x/m', PROMPT],
        ],
        env: {
          OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
          OPENCODE_DISABLE_MODELS_FETCH: '1',
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
          OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        },
      }
    },
  },
  {
    name: 'pi',
    package: '@mariozechner/pi-coding-agent',
    shell: { tool: 'bash', input: (line) => ({ command: line }) },
    start(home, url) {
      const models = [{ id: 'test-model' }]
      const provider = { baseUrl: url, api: 'anthropic-messages', apiKey: 'none', models }
      write(join(home, '.pi/agent/models.json'), JSON.stringify({ providers: { x: provider } }))
      return {
        argv: [
          process.execPath,
          fileOf('@mariozechner/pi-coding-agent/dist/cli.js'),
          ...['--mode', 'json', '--provider', 'x', '--model', 'test-model', '-p', PROMPT],
        ],
        env: { PI_OFFLINE: '1' },
      }
    },
  },
]

/** The version that is installed, or undefined. */
export function installedVersion(agent: CodingAgent): string | undefined {
  const manifest = join(PACKAGES, agent.package, 'package.json')
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}

function fileOf(path: string): string {
  return resolve(PACKAGES, path)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
