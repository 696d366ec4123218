import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { plainGit } from '../git/world.ts'

const BUNDLE = resolve('dist/slipway.js')
const DEMO = resolve('src/cli/demo')

/** What a command came to. */
interface Done {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A user with a home and a repository of their own, at the command line. */
export interface User {
  readonly repository: string
  readonly state: string
  /** The environment that every command has; tests add to it. */
  readonly env: Record<string, string>
  slipway(...args: string[]): Promise<Done>
  /** Types a line of shell in the repository. */
  type(line: string): Promise<Done>
  /**
   * Types a line where mounts and limits of the kernel can be changed, for that line alone; the
   * command is `$slipway` in it.
   */
  typeApart(line: string): Promise<Done>
  /** Begins such a line, and leaves it running. */
  beginApart(line: string): Begun
  /** Writes a file into the repository, or beside it with `../`. */
  write(path: string, text: string): void
  /** Has the scripted brain say other things than in the demo, with a configuration to that. */
  play(replies: readonly object[], config: object): Promise<void>
  /** Ends the engine without a warning; says whether there was one. */
  killEngine(): boolean
  close(): Promise<void>
}

const CONFIG = `limits: { codingTurns: 4 }
team: { coders: 4, architects: 2 }
review: { plan: model }
tests: { commands: [[node, --test]] }
`

/** Makes a user with the repository, the spec and the script of the demo. */
export async function makeUser(): Promise<User> {
  const scratch = mkdtempSync(join(tmpdir(), 'slipway-run-'))
  const repository = join(scratch, 'tally')
  const home = join(scratch, 'home')
  mkdirSync(home)
  cpSync(join(DEMO, 'repository'), repository, { recursive: true })
  cpSync(join(DEMO, 'spec.md'), join(scratch, 'spec.md'))
  writeFileSync(join(repository, 'slipway.config.yaml'), CONFIG)
  plainGit(repository, 'init', '-q', '-b', 'main')
  plainGit(repository, 'add', '-A')
  plainGit(repository, 'commit', '-q', '-m', 'init')
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    NO_COLOR: '1',
    SLIPWAY_SCENARIO: join(DEMO, 'scenario.yaml'),
  }
  const state = join(repository, '.slipway')
  const slipway = (...args: string[]) => execute(args, repository, env)
  const type = (line: string) => runProgram('sh', ['-c', line], repository, env)
  const apart = (line: string) => ['-Urm', 'sh', '-c', line]
  const withCommand = () => ({ ...env, slipway: `${process.execPath} ${BUNDLE}` })
  const killEngine = () => {
    try {
      const { pid } = JSON.parse(readFileSync(join(state, 'engine.json'), 'utf8'))
      process.kill(pid, 'SIGKILL')
      return true
    } catch {
      return false
    }
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), text)
  }
  const trust = () => slipway('config', 'trust', '--yes')
  await trust()
  return {
    repository,
    state,
    env,
    slipway,
    type,
    typeApart: (line) => runProgram('unshare', apart(line), repository, withCommand()),
    beginApart: (line) => beginProgram('unshare', apart(line), repository, withCommand()),
    write,
    async play(replies, config) {
      write('../scenario.yaml', JSON.stringify({ replies }))
      env.SLIPWAY_SCENARIO = join(scratch, 'scenario.yaml')
      write('slipway.config.yaml', JSON.stringify(config))
      await trust()
    },
    killEngine,
    async close() {
      killEngine()
      await new Promise((done) => setTimeout(done, 100))
      rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function execute(args: readonly string[], cwd: string, env: Record<string, string>): Promise<Done> {
  return runProgram(process.execPath, [BUNDLE, ...args], cwd, env)
}

function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Done> {
  return new Promise((done) => {
    const options = { cwd, env, maxBuffer: 1e8, timeout: 120_000 }
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1)
      done({ code, stdout, stderr })
    })
  })
}

/** Where commands are typed, and with what environment. */
type Desk = Pick<User, 'repository' | 'env'>

/** Types a command. */
export function slipwayAt({ repository, env }: Desk, ...args: string[]): Promise<Done> {
  return execute(args, repository, env)
}

/** Somebody with nothing but a home: no repository, no key and no model. */
export function makeVisitor(home: string): Desk {
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, NO_COLOR: '1' }
  return { repository: home, env: { ...env, OLLAMA_HOST: 'http://127.0.0.1:9' } }
}

/** A command that is left running, with what it has said so far. */
interface Begun {
  readonly child: ChildProcess
  /** Its exit code, when it has ended. */
  readonly ended: Promise<number | null>
  said(): string
}

/** Begins a command, and leaves it running. */
export function begin({ repository, env }: Desk, ...args: string[]): Begun {
  return beginProgram(process.execPath, [BUNDLE, ...args], repository, env)
}

function beginProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Begun {
  const child = spawn(program, args, { cwd, env })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => said.push(String(chunk)))
  }
  const ended = new Promise<number | null>((done) => child.once('close', done))
  return { child, ended, said: () => said.join('') }
}
