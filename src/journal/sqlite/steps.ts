import type { JournalRow, RowKind } from '../../runtime/records.ts'
import { Checksum } from './checksum.ts'
import { missing, verify } from './damage.ts'
import type { SqlValue } from './driver.ts'
import type { Statements } from './statements.ts'

/** What many rows say alike: an event of a type took an agent from one state to another. */
type Step = Pick<JournalRow, 'kind' | 'eventType' | 'from' | 'to' | 'move'>

const RECENT_MAX = 4

/** By the values of a step, one after the other: joining them into one name was 6% of all time. */
type Branch = Map<string | null, Branch | number>

/**
 * The steps that were ever made, each stored once, so that a row has one number in place of five
 * texts, and is shorter and quicker to write.
 */
export class Steps {
  readonly #sql: Statements
  /** The last few, the newest first: agents go to and fro, and comparing is quicker than looking up. */
  #recent: readonly (Step & { readonly key: number })[] = []
  #known: Branch | undefined
  #count = 0

  constructor(sql: Statements) {
    this.#sql = sql
  }

  /** The number of a row's step, which is stored within the open transaction when it is new. */
  keyOf(row: JournalRow): number {
    for (const step of this.#recent) if (isSame(step, row)) return step.key
    const { kind, eventType, from, to, move } = row
    const key = this.#lookUp(row)
    const step = { kind, eventType, from, to, move, key }
    this.#recent = [step, ...this.#recent.slice(0, RECENT_MAX - 1)]
    return key
  }

  #lookUp(row: JournalRow): number {
    this.#known ??= this.#read()
    const { kind, eventType, from, to, move } = row
    let branch = branchOf(this.#known, kind)
    branch = branchOf(branch, eventType)
    branch = branchOf(branch, from)
    branch = branchOf(branch, to)
    const known = branch.get(move)
    if (known !== undefined) return known as number
    this.#count += 1
    const key = this.#count
    this.#sql.addStep.run(key, kind, eventType, from, to, move, stepChecksum(key, row))
    branch.set(move, key)
    return key
  }

  /** Reads them again when they are needed: a transaction with new ones was rolled back. */
  forget(): void {
    this.#recent = []
    this.#known = undefined
  }

  #read(): Branch {
    const root: Branch = new Map()
    const rows = this.#sql.steps.all()
    for (const [i, row] of rows.entries()) {
      // The next number is by their count: it must not be one that rows have already.
      if (Number(row.step) !== i + 1) throw missing(`step ${i + 1}`, 'the order of steps')
      const { kind, eventType, from, to, move } = toStep(row)
      const branch = [kind, eventType, from, to].reduce(branchOf, root)
      branch.set(move, Number(row.step))
    }
    this.#count = rows.length
    return root
  }
}

function isSame(a: Step, b: Step): boolean {
  return (
    a.from === b.from &&
    a.to === b.to &&
    a.move === b.move &&
    a.eventType === b.eventType &&
    a.kind === b.kind
  )
}

function branchOf(branch: Branch, value: string | null): Branch {
  const known = branch.get(value)
  if (known !== undefined) return known as Branch
  const added: Branch = new Map()
  branch.set(value, added)
  return added
}

/** The step of a stored row that is joined with it. */
export function toStep(row: Record<string, SqlValue>): Step {
  const step: Step = {
    kind: row.kind as RowKind,
    eventType: String(row.event_type),
    from: row.from_state as string | null,
    to: row.to_state as string | null,
    move: row.move as string | null,
  }
  verify(`step ${row.step}`, row.step_checksum, stepChecksum(Number(row.step), step))
  return step
}

/** The checksum of a step's columns. */
function stepChecksum(key: number, { kind, eventType, from, to, move }: Step): number {
  const sum = new Checksum().number(key).text(kind).text(eventType)
  return sum.text(from).text(to).text(move).value
}
