import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { slipway } from './slipway.ts'

const NAMES =
  'pm@1 architect@D architect@I coder@D coder@F coordinator@1 coordinator@2 story@1 dispatcher@1 merge-queue@1 ledger@1'.split(
    ' ',
  )
const DEFAULTS = NAMES.filter((name) => !/^(architect|coder)@D$|^coordinator@1$/.test(name))

describe('slipway machines', () => {
  test('lists every machine and marks the defaults', () => {
    const { exitCode, stdout } = slipway('machines')
    expect(exitCode).toBe(0)
    for (const name of NAMES) expect(stdout).toContain(name)
    expect(stdout.match(/\S+(?= \*)/g)).toEqual(DEFAULTS)
  })

  test('prints no escape codes into a pipe', () => {
    expect(slipway('machines').stdout).not.toContain('\x1b')
  })

  test('does not mind a reader that goes away', () => {
    const script = `"${process.execPath}" dist/slipway.js machines --json | :; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' })
  })

  test('says so in one line when the output cannot be written', () => {
    const script = `"${process.execPath}" dist/slipway.js machines > /dev/full`
    const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toBe('slipway: the output cannot be written (ENOSPC)\n')
  })
})

describe('slipway machines <name>', () => {
  test.each(NAMES)('%s: draws the matrix, the states and every row', (name) => {
    const { exitCode, stdout } = slipway('machines', name)
    const [machine] = JSON.parse(slipway('machines', name, '--json').stdout)
    expect(exitCode).toBe(0)
    expect(readDrawnPairs(stdout)).toEqual(pairsOf(machine))
    for (const { purpose } of machine.states) expect(stdout).toContain(purpose)
    const lines = stdout.split('\n').map((line) => line.replace(/\s+/g, ' '))
    for (const { from, event, to, overlay } of machine.transitions) {
      if (overlay) continue
      expect(lines.filter((line) => line.startsWith(`${from} ${event} → ${to}`))).toHaveLength(1)
    }
  })

  test('takes the default revision of a bare id', () => {
    expect(slipway('machines', 'coder').stdout).toBe(slipway('machines', 'coder@F').stdout)
  })

  test.each([
    ['welder', 'There is no machine "welder". There are: ', NAMES],
    ['coder@Z', 'There is no revision "coder@Z". There are: ', ['coder@D', 'coder@F']],
    ['constructor', 'There is no machine "constructor"', NAMES],
    ['\x1b]52;c;aGk=\x07', 'There is no machine "\\u001b]52', NAMES],
    ['\x9b31mX\u202e', 'There is no machine "\\u{9b}31mX\\u{202e}"', NAMES],
  ])('%j is a usage error that lists what exists', (name, message, known) => {
    const { exitCode, stdout, stderr } = slipway('machines', name)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain(`${known.join(', ')}.`)
    expect(stderr).not.toContain('\x1b')
  })
})

describe('slipway machines --json', () => {
  const machines = JSON.parse(slipway('machines', '--json').stdout)

  test('has every machine in the documented shape', () => {
    expect(machines.map((m: Record<string, string>) => `${m.id}@${m.revision}`)).toEqual(NAMES)
    for (const machine of machines) {
      expect(machine).toMatchObject({
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        initial: expect.any(String),
        terminal: expect.arrayContaining([expect.any(String)]),
      })
      const states = machine.states.map((state: { name: string }) => state.name)
      expect(states).toContain(machine.initial)
      for (const row of machine.transitions) {
        expect([...states, '*', null]).toContain(row.from)
        expect(states).toContain(row.to)
      }
    }
  })

  test('prints the SUSPEND rows in the same form, marked as overlay', () => {
    const [, , , , coderF] = machines
    const overlay = coderF.transitions.filter((row: { overlay?: true }) => row.overlay)
    expect(overlay).toHaveLength(11 + 11 + 2)
    expect(overlay).toContainEqual({
      from: 'SUSPEND',
      event: 'service_restored',
      to: 'CODING',
      guard: 'came from CODING',
      overlay: true,
    })
  })

  test('prints null and * as the document has them', () => {
    const rows = machines[5].transitions.filter((row: { overlay?: true }) => !row.overlay)
    expect(rows).toHaveLength(18)
    expect(rows[0]).toMatchObject({ from: null, event: 'task_received', to: 'intake' })
    expect(rows.filter((row: { from: string }) => row.from === '*')).toHaveLength(2)
    expect(machines[5].outcomes).toContain('proposal_changes_requested')
  })
})

describe('other forms', () => {
  test('--markdown is the generated document', () => {
    const { stdout } = slipway('machines', 'coder@F', '--markdown')
    expect(stdout).toBe(readFileSync('docs/machines/coder-f.md', 'utf8'))
  })

  test('--markdown without a machine is every document', () => {
    const { stdout } = slipway('machines', '--markdown')
    expect(stdout.match(/^# .*$/gm)).toEqual(NAMES.map((name) => `# ${name}`))
  })

  test('--mermaid is the diagram of one machine', () => {
    const { stdout } = slipway('machines', 'architect@D', '--mermaid')
    expect(stdout).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> WAITING\n/)
    expect(readFileSync('docs/machines/architect-d.md', 'utf8')).toContain(stdout)
  })

  test('--mermaid without a machine is a usage error that names them', () => {
    const { exitCode, stderr } = slipway('machines', '--mermaid')
    expect(exitCode).toBe(2)
    expect(stderr).toContain(NAMES.join(', '))
  })

  test('--audit lists the findings with what is done about each', () => {
    expect(slipway('machines', 'coder@D', '--audit').stdout).toMatch(
      /single-exit +PLANNING +only to PLAN_REVIEW +When the planning budget is spent/,
    )
    expect(slipway('machines', 'pm@1', '--audit').stdout).toContain('no findings')
  })

  test('--audit --json is data', () => {
    const [machine] = JSON.parse(slipway('machines', 'coder@D', '--audit', '--json').stdout)
    expect(machine.findings).toContainEqual({
      kind: 'single-exit',
      subject: 'PLANNING',
      detail: 'only to PLAN_REVIEW',
      remedy: expect.stringContaining('best plan so far'),
    })
  })

  test.each([
    [['machines', '--mermaid', '--json']],
    [['machines', '--markdown', '--audit']],
    [['machines', 'coder@F', 'extra']],
    [['machines', '--nonsense']],
    [['nonsense']],
    [['\x1b]52;c;aGk=\x07']],
    [['machines', '--\x1b[31mred']],
    [['machines', '--json=\x1b[31m']],
  ])('%j is a usage error', (args) => {
    const { exitCode, stdout, stderr } = slipway(...args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^error: /)
    expect(stderr).not.toContain('\x1b')
  })
})

test('slipway --version is the version of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(slipway('--version')).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
})

test('slipway --help names the commands', () => {
  expect(slipway('--help')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('machines'),
  })
})

interface PrintedMachine {
  states: { name: string; overlay?: true }[]
  transitions: { from: string | null; to: string; overlay?: true }[]
}

/** The pairs of the table, `*` written out for every state. */
function pairsOf({ states, transitions }: PrintedMachine): string[] {
  const names = states.filter((state) => !state.overlay).map((state) => state.name)
  const pairs = transitions
    .filter((row) => !row.overlay && row.from !== null)
    .flatMap(({ from, to }) => (from === '*' ? names : [from]).map((name) => `${name}→${to}`))
  return [...new Set(pairs)].sort()
}

/** The pairs that the drawn matrix marks. */
function readDrawnPairs(stdout: string): string[] {
  const lines = stdout.split('\n').filter((line) => /^ ?\d+ {2}\S+ .*[·●○]/.test(line))
  const names = lines.map((line) => line.trim().split(/\s+/)[1])
  return lines
    .flatMap((line) => {
      const [, from, ...cells] = line.trim().split(/\s+/)
      return cells.flatMap((cell, column) => (cell === '·' ? [] : [`${from}→${names[column]}`]))
    })
    .sort()
}
