/** `npm run bench -- <name> [--json] [--quick]` */
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { show } from '../scripts/shell.ts'
import { demoTime } from './cases/demo.ts'
import { dispatchCost } from './cases/dispatch.ts'
import { idleCost } from './cases/idle.ts'
import { journalRate } from './cases/journal.ts'
import { packageSize } from './cases/package.ts'
import { recovery } from './cases/recover.ts'
import { stepLookup } from './cases/step.ts'
import { turnaround } from './cases/turn.ts'
import { workspaceCost } from './cases/workspace.ts'
import { type BenchmarkCase, drawReport, reportOf } from './report.ts'

const CASES: Readonly<Record<string, BenchmarkCase>> = {
  step: stepLookup,
  journal: journalRate,
  recover: recovery,
  idle: idleCost,
  package: packageSize,
  workspace: workspaceCost,
  turn: turnaround,
  dispatch: dispatchCost,
  demo: demoTime,
}

/** Installs the peers unless exactly the pinned versions are there. */
async function installPeers(): Promise<boolean> {
  const { dependencies } = readJson('bench/package.json')
  const current = Object.entries(dependencies).every(([name, version]) => {
    const manifest = `bench/node_modules/${name}/package.json`
    return existsSync(manifest) && readJson(manifest).version === version
  })
  if (current) return true
  process.stderr.write('installing the peers to compare with\n')
  return (await show('npm', ['ci', '--ignore-scripts', '--prefix', 'bench'], 'stderr')) === 0
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
    })
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`)
    return undefined
  }
}

async function main(): Promise<number> {
  const given = readArguments()
  const name = given?.positionals[0] ?? ''
  const benchmark = Object.hasOwn(CASES, name) ? CASES[name] : undefined
  if (given === undefined || benchmark === undefined || given.positionals.length !== 1) {
    const known = Object.entries(CASES).map(([key, { summary }]) => `  ${key}: ${summary}\n`)
    process.stderr.write(`Usage: npm run bench -- <name> [--json] [--quick]\n${known.join('')}`)
    return 2
  }
  if (!(await installPeers())) return 1

  const measurements = await benchmark.measure({ quick: given.values.quick ?? false })
  const report = reportOf(name, readJson('package.json').version, measurements)
  const text = given.values.json ? JSON.stringify(report, null, 2) : drawReport(report)
  process.stdout.write(`${text}\n`)
  return report.goals.every((goal) => goal.met) ? 0 : 1
}

process.exitCode = await main()
