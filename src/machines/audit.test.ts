import { expect, test } from 'vitest'
import { audit } from './audit.ts'
import { MACHINES } from './catalog.ts'
import type { EventName } from './events.ts'
import { remediedFindings } from './remedies.ts'
import type { MachineTable, Transition } from './table.ts'

type Row = [from: string, event: EventName, to: string, marks?: Partial<Transition>]

function tableOf(states: string, terminal: string, rows: Row[]): MachineTable {
  const names = states.split(' ')
  return {
    id: 'x',
    revision: '1',
    date: '2026-01-01',
    title: 'x',
    initial: names[0] ?? '',
    terminal: terminal.split(' '),
    states: Object.fromEntries(names.map((name) => [name, 'x'])),
    transitions: rows.map(([from, event, to, marks]) => ({ from, event, to, ...marks })),
  }
}

const found = (table: MachineTable) => audit(table).map(({ kind, subject }) => `${kind} ${subject}`)

test('a sound table has no findings', () => {
  const rows: Row[] = [
    ['A', 'merged', 'DONE'],
    ['A', 'merge_failed', 'ERROR'],
  ]
  expect(found(tableOf('A DONE ERROR', 'DONE ERROR', rows))).toEqual([])
})

test.each<[finding: string, states: string, terminal: string, rows: Row[]]>([
  [
    'unreachable-state B',
    'A B DONE',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['B', 'merged', 'DONE'],
    ],
  ],
  [
    'dead-end B',
    'A B DONE',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'escalated', 'B'],
    ],
  ],
  [
    'no-terminal B',
    'A B C DONE',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'escalated', 'B'],
      ['B', 'merged', 'C'],
      ['C', 'merged', 'B'],
    ],
  ],
  [
    'no-success B',
    'A B DONE ERROR',
    'DONE ERROR',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'escalated', 'B'],
      ['B', 'abandoned', 'ERROR'],
      ['ERROR', 'recovered', 'A'],
    ],
  ],
  [
    'single-exit B',
    'A B DONE',
    'DONE',
    [
      ['A', 'escalated', 'B'],
      ['B', 'merged', 'DONE'],
    ],
  ],
  [
    'no-failure-exit A',
    'A DONE ERROR',
    'DONE ERROR',
    [
      ['A', 'merged', 'DONE'],
      ['DONE', 'abandoned', 'ERROR'],
    ],
  ],
  ['no-failure-state table', 'A DONE', 'DONE', [['A', 'merged', 'DONE']]],
  [
    'ambiguous-event A merged',
    'A B DONE',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'merged', 'B'],
      ['B', 'merged', 'DONE'],
    ],
  ],
  ['unlabelled-event A merged', 'A DONE', 'DONE', [['A', 'merged', 'DONE', { unlabelled: true }]]],
  [
    'no-success A',
    'A ERROR DONE',
    'DONE',
    [
      ['A', 'abandoned', 'ERROR'],
      ['A', 'escalated', 'A'],
      ['ERROR', 'cleaned_up', 'DONE'],
    ],
  ],
  [
    'dead-end ERROR',
    'A DONE ERROR',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'abandoned', 'ERROR'],
    ],
  ],
  [
    'no-terminal ERROR',
    'A B DONE ERROR',
    'DONE',
    [
      ['A', 'merged', 'DONE'],
      ['A', 'abandoned', 'ERROR'],
      ['ERROR', 'recovered', 'B'],
      ['B', 'abandoned', 'ERROR'],
    ],
  ],
  [
    'ambiguous-event A merged',
    'A B DONE',
    'DONE',
    [
      ['A', 'merged', 'B'],
      ['*', 'merged', 'DONE'],
    ],
  ],
  [
    'ambiguous-event A service_unavailable',
    'A DONE',
    'DONE',
    [['A', 'service_unavailable', 'DONE']],
  ],
  ['unlabelled-event A', 'A DONE', 'DONE', [['A', '' as EventName, 'DONE']]],
])('finds %s', (finding, states, terminal, rows) => {
  expect(found(tableOf(states, terminal, rows))).toContain(finding)
})

test('an ambiguous event says whether the origin decides', () => {
  const rows = (marks: Partial<Transition>): Row[] => [
    ['A', 'merged', 'B', marks],
    ['A', 'merged', 'DONE', marks],
  ]
  const detail = (marks: Partial<Transition>) =>
    audit(tableOf('A B DONE', 'DONE', rows(marks))).find((f) => f.kind === 'ambiguous-event')
      ?.detail
  expect(detail({})).toContain('nothing decides')
  expect(detail({ toOrigin: true })).toContain('the remembered origin decides')
})

test.each([
  ['coder@D', 'single-exit PLANNING'],
  ['coder@D', 'unlabelled-event WAITING failed_unrecoverably'],
  ['coder@F', 'no-failure-exit PLANNING'],
  ['coder@F', 'no-failure-exit TESTING'],
  ['coder@F', 'no-failure-exit AWAIT_MERGE'],
  ['architect@D', 'no-success MONITORING'],
  ['architect@D', 'no-success REQUEST'],
])('the known hole of %s is found: %s', (name, hole) => {
  const machine = MACHINES.find((candidate) => candidate.name === name)
  expect(machine && found(machine)).toContain(hole)
})

test.each(MACHINES)(
  'every finding of $name has a remedy, and every remedy a finding',
  (machine) => {
    expect(remediedFindings(machine).sort()).toEqual(found(machine).sort())
  },
)

test.each(MACHINES)('no event of $name leaves the choice to nobody', (machine) => {
  expect(audit(machine).filter((f) => f.detail.includes('nothing decides'))).toEqual([])
})
