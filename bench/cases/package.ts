import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, run } from '../../scripts/shell.ts'
import { median } from '../rate.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'

const GOAL_SIZE_MB = 5
const GOAL_START_MS = 150
const GOAL_INSTALL_S = 60
const STARTS = 21

/** What a user waits for before the first line of output: download, installation, start. */
export const packageSize: BenchmarkCase = {
  summary: 'size of the published package, time to install the project and to start the command',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  must(await run('npm', ['run', 'build']))
  const starts = quick ? 3 : STARTS
  const bareMs: number[] = []
  const versionMs: number[] = []
  for (let start = 0; start < starts; start += 1) {
    bareMs.push(must(await run('node', ['--eval', '0'])).durationMs)
    versionMs.push(must(await run('node', ['dist/slipway.js', '--version'])).durationMs)
  }
  const sizeMb = await unpackedSizeMb()
  const installS = await installSeconds()
  return {
    rows: [
      { subject: 'published package', metric: 'unpacked size', value: sizeMb, unit: 'MB' },
      { subject: 'npm ci', metric: 'duration', value: installS, unit: 's' },
      { subject: 'node --eval 0', metric: 'start, median', value: median(bareMs), unit: 'ms' },
      {
        subject: 'slipway --version',
        metric: 'start, median',
        value: median(versionMs),
        unit: 'ms',
      },
    ],
    goals: [
      below('unpacked size, MB', GOAL_SIZE_MB, sizeMb),
      below('npm ci, s', GOAL_INSTALL_S, installS),
      below('slipway --version, ms', GOAL_START_MS, median(versionMs)),
    ],
  }
}

async function unpackedSizeMb(): Promise<number> {
  const { output } = must(await run('npm', ['pack', '--dry-run', '--json', '--loglevel=silent']))
  const [{ unpackedSize }] = JSON.parse(output)
  return unpackedSize / 1e6
}

async function installSeconds(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'))
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
      cpSync(file, join(folder, file))
    }
    return must(await run('npm', ['ci', '--prefix', folder])).durationMs / 1000
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function must(result: CommandResult): CommandResult {
  if (result.exitCode !== 0) throw new Error(result.output)
  return result
}
