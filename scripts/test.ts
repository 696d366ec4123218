/**
 * The whole test run: checks, build, every suite, and in CI the fast suites on every Node version.
 * A suite whose needs cannot be met is skipped by name; with CI=true a skip is a failure.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { SUITES, type Suite } from '../test/suites.ts'
import { selectSuites } from './select-suites.ts'
import { run, show } from './shell.ts'
import { isOurNode, systemPackages } from './system-packages.ts'

interface Count {
  readonly passed: number
  readonly failed: number
}

/** The part of vitest's JSON report that is read here. */
interface TestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const inCi = process.env.CI === 'true'
const reports = mkdtempSync(join(tmpdir(), 'slipway-test-'))
const failures: string[] = []
const skips: string[] = []

async function stage(name: string, command: string, args: readonly string[]): Promise<boolean> {
  console.log(`\n== ${name}`)
  const passed = (await show(command, args)) === 0
  if (!passed) failures.push(name)
  return passed
}

/** A stage beside others: what it printed is shown when it has ended. */
async function stageBeside(name: string, command: string, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await run(command, args)
  console.log(`\n== ${name}\n${output}`)
  if (exitCode !== 0) failures.push(name)
}

async function runSuites(
  [label, node]: NodeVersion,
  suites: readonly Suite[],
  perform: (name: string, command: string, args: readonly string[]) => Promise<unknown> = stage,
): Promise<Count> {
  const report = join(reports, `${label}.json`)
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=json']
  const projects = suites.flatMap((suite) => ['--project', suite.name])
  await perform(`tests on ${label}`, node, [...args, `--outputFile=${report}`, ...projects])
  try {
    const results: TestReport = JSON.parse(readFileSync(report, 'utf8'))
    failures.push(...failedTests(results))
    return { passed: results.numPassedTests, failed: results.numFailedTests }
  } catch {
    return { passed: 0, failed: 1 }
  }
}

/** The tests that failed, and the files that could not be run at all, each with the reason's opening. */
function failedTests({ testResults }: TestReport): string[] {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const file = relative(process.cwd(), name)
    if (failed.length === 0) return message === '' ? [] : [`${file}\n${opening(message)}`]
    return failed.map((test) => `${file} > ${test.fullName}\n${opening(test.failureMessages[0])}`)
  })
}

function opening(message = ''): string {
  const lines = message.split('\n').slice(0, 12)
  return lines.map((line) => `        ${line.slice(0, 300)}`).join('\n')
}

type NodeVersion = readonly [label: string, node: string]

const NODES = 'test/nodes'
const installed = new Map<string, Promise<boolean>>()

/** Installs a package that is not part of ours, once. */
function install(folder: string): Promise<boolean> {
  const command = ['ci', '--ignore-scripts', '--prefix', folder]
  const done = installed.get(folder) ?? stage(`install ${folder}`, 'npm', command)
  installed.set(folder, done)
  return done
}

/** The packages that suites need besides ours. */
function packagesOf(suites: readonly Suite[]): ReadonlySet<string> {
  const isNodeMissing = suites.some(({ nodeMin }) => nodeMin !== undefined && !isOurNode(nodeMin))
  const folders = suites.flatMap(({ packages }) => packages ?? [])
  return new Set(isNodeMissing ? [NODES, ...folders] : folders)
}

/** The Node versions of test/nodes, as label and path; they are Linux x64 binaries. */
async function otherNodes(): Promise<readonly NodeVersion[]> {
  const { dependencies } = JSON.parse(readFileSync(`${NODES}/package.json`, 'utf8'))
  const label = (alias: string) => `Node ${dependencies[alias].split('@')[1]}`
  const obstacle = !inCi
    ? 'runs with CI=true'
    : process.platform !== 'linux' || process.arch !== 'x64'
      ? 'needs Linux on x64'
      : undefined
  if (obstacle !== undefined) {
    skips.push(`${Object.keys(dependencies).map(label).join(', ')}: ${obstacle}`)
    return []
  }
  if (!(await install(NODES))) return []
  return Object.keys(dependencies).map((alias) => [
    label(alias),
    `${NODES}/node_modules/${alias}/bin/node`,
  ])
}

async function main(): Promise<number> {
  await stage('check', 'npm', ['run', '--silent', 'check'])
  if (!(await stage('build', 'npm', ['run', '--silent', 'build']))) return report([])
  const selection = await selectSuites(SUITES, systemPackages)
  skips.push(...selection.skips)
  for (const folder of packagesOf(selection.runnable)) await install(folder)
  const ours = await runSuites([`Node ${process.versions.node}`, 'node'], selection.runnable)
  const portable = SUITES.filter((suite) => suite.onEveryNode)
  // Beside one another: one alone keeps one and a quarter processors busy.
  const others = (await otherNodes()).map((node) => runSuites(node, portable, stageBeside))
  return report([ours, ...(await Promise.all(others))])
}

function report(counts: readonly Count[]): number {
  const passed = counts.reduce((sum, count) => sum + count.passed, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed, 0)
  console.log('')
  for (const skip of skips) console.log(`skipped ${skip}`)
  for (const failure of failures) console.log(`FAILED  ${failure}`)
  if (inCi && skips.length > 0) console.log('FAILED  with CI=true nothing may be skipped')
  console.log(`${passed} passed, ${failed} failed, ${skips.length} skipped`)
  return failures.length > 0 || failed > 0 || (inCi && skips.length > 0) ? 1 : 0
}

process.exitCode = await main().finally(() => rmSync(reports, { recursive: true }))
