import type { Machine } from './machine.ts'
import { architectD } from './tables/architect-d.ts'
import { architectI } from './tables/architect-i.ts'
import { coderD } from './tables/coder-d.ts'
import { coderF } from './tables/coder-f.ts'
import { coordinator1 } from './tables/coordinator-1.ts'
import { coordinator2 } from './tables/coordinator-2.ts'
import { dispatcher1 } from './tables/dispatcher-1.ts'
import { ledger1 } from './tables/ledger-1.ts'
import { mergeQueue1 } from './tables/merge-queue-1.ts'
import { pm1 } from './tables/pm-1.ts'
import { story1 } from './tables/story-1.ts'

/** Every published machine; of each id the last revision is the default. */
export const MACHINES: readonly Machine[] = [
  pm1,
  architectD,
  architectI,
  coderD,
  coderF,
  coordinator1,
  coordinator2,
  story1,
  dispatcher1,
  mergeQueue1,
  ledger1,
]

const BY_NAME: ReadonlyMap<string, Machine> = new Map(
  MACHINES.flatMap((machine) => [
    [machine.id, machine],
    [machine.name, machine],
  ]),
)

/** The machine of that name (`coder@F`), or the default revision of that id (`coder`). */
export function findMachine(name: string): Machine | undefined {
  return BY_NAME.get(name)
}

/** Whether this revision is the one that runs when none is configured. */
export function isDefault(machine: Machine): boolean {
  return findMachine(machine.id) === machine
}
