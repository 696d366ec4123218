import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openProcesses } from '../effects/process/processes.ts'
import { layOut } from './columns.ts'
import { mergeLayers } from './config/layers.ts'
import { describeIgnored, type LoadedConfig, loadConfig } from './config/load-config.ts'
import { findRepository } from './config/place.ts'
import { checkAgents, checkBrains } from './doctor/brain-checks.ts'
import { bounded, type Check, missing, ok, warn } from './doctor/check.ts'
import {
  checkDisk,
  checkGit,
  checkIsolation,
  checkNode,
  checkRipgrep,
} from './doctor/machine-checks.ts'
import { checkRepository } from './doctor/repository-checks.ts'
import { EXIT_CODE } from './exit-code.ts'
import { jsonText } from './json-text.ts'
import { printable } from './printable.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'

export interface DoctorOptions {
  readonly json?: true
  readonly state?: string
}

/** Opening a sandbox may fetch an image. */
const ISOLATION_MS_MAX = 45_000
const CHECK_MS_MAX = 30_000
const LEFT_BEHIND_MS_MAX = 2_000

/** `slipway doctor`: whether a run would work here, and what to do where it would not. */
export async function doctor({ json, state }: DoctorOptions): Promise<number> {
  const checks = await check(state)
  const isFit = checks.every(({ status }) => status !== 'missing')
  process.stdout.write(`${json ? jsonText({ ok: isFit, checks }) : draw(checks)}\n`)
  if (!json) process.stderr.write(isFit ? 'A run would work here.\n' : 'A run would not work.\n')
  const exitCode = isFit ? EXIT_CODE.done : EXIT_CODE.failed
  // A disk or a server that does not answer would keep this process for as long.
  setTimeout(() => process.exit(exitCode), LEFT_BEHIND_MS_MAX).unref()
  return exitCode
}

async function check(state: string | undefined): Promise<readonly Check[]> {
  const environment = process.env
  const { loaded, checks: own } = await readConfig()
  const { repository, config } = loaded
  const root = repository?.root ?? process.cwd()
  const stateFolder = state === undefined ? join(root, '.slipway') : resolve(state)
  const folder = await mkdtemp(join(tmpdir(), 'slipway-doctor-'))
  const processes = openProcesses(folder)
  const ground = { processes, repository, stateFolder, config, environment }
  try {
    const found = await Promise.all([
      bounded('git', CHECK_MS_MAX, () => checkGit(processes, environment)),
      bounded('repository', CHECK_MS_MAX, () => checkRepository(ground)),
      bounded('state folder', CHECK_MS_MAX, () => checkDisk(stateFolder)),
      bounded('isolation', ISOLATION_MS_MAX, () =>
        checkIsolation(processes, folder, config, environment),
      ),
      bounded('models', CHECK_MS_MAX, () => checkBrains(loaded, environment)),
      bounded('agents', CHECK_MS_MAX, () => checkAgents(environment)),
      bounded('ripgrep', CHECK_MS_MAX, () => checkRipgrep(environment)),
    ])
    return [checkNode(process.version), ...own, ...found.flat()]
  } finally {
    await processes.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Where the files cannot be used, the rest is looked at as if there were none. */
async function readConfig(): Promise<{
  readonly loaded: LoadedConfig
  readonly checks: readonly Check[]
}> {
  try {
    const loaded = await loadConfig(process.cwd(), process.env)
    const files = [loaded.userFile?.name, loaded.repositoryFile?.name].filter(Boolean).join(', ')
    const [ignored, fix = ''] = describeIgnored(loaded)
    const own =
      ignored === undefined
        ? ok('configuration', files || 'none; none is needed')
        : warn('configuration', ignored, fix)
    return { loaded, checks: [own] }
  } catch (error) {
    const { message } = error as Error
    const loaded = {
      ...mergeLayers({ user: {}, repository: {}, isTrusted: false }),
      repository: findRepository(process.cwd()),
      userFile: undefined,
      repositoryFile: undefined,
      isTrusted: false,
    }
    return { loaded, checks: [missing('configuration', message, 'Mend the file.')] }
  }
}

function draw(checks: readonly Check[]): string {
  const style = styleFor(process.stdout)
  const width = columnsOf(process.stdout)
  const paint = (status: string) => (status.startsWith('ok') ? style.good : style.warn)(status)
  const rows = checks.flatMap(({ name, status, found, fix }) => [
    ...lines([status, name], found),
    ...(fix === undefined ? [] : lines(['', ''], `→ ${fix}`)),
  ])
  return layOut(rows, width, [paint, style.bold])
}

function lines(heads: readonly [string, string], text: string): string[][] {
  return printable(text)
    .split('\n')
    .map((line, i) => (i === 0 ? [...heads, line] : ['', '', line]))
}
