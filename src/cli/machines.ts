import { audit } from '../machines/audit.ts'
import { findMachine, MACHINES } from '../machines/catalog.ts'
import { describeMachine } from '../machines/describe.ts'
import { machineDocument } from '../machines/document.ts'
import type { Machine } from '../machines/machine.ts'
import { toMermaid } from '../machines/mermaid.ts'
import { remedyFor } from '../machines/remedies.ts'
import { drawFindings, drawList, drawMachine } from './machine-view.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'
import { UsageError } from './usage-error.ts'

export interface MachinesOptions {
  readonly mermaid?: true
  readonly markdown?: true
  readonly json?: true
  readonly audit?: true
}

/** `slipway machines [name]`: the text to print. */
export function machines(name: string | undefined, options: MachinesOptions): string {
  const canvas = { style: styleFor(process.stdout), width: columnsOf(process.stdout) }
  const chosen = name === undefined ? MACHINES : [machineNamed(name)]
  if (options.audit) {
    return options.json ? toJson(chosen.map(describeFindings)) : drawFindings(chosen, canvas)
  }
  if (options.json) return toJson(chosen.map(describeMachine))
  if (options.markdown) return chosen.map(machineDocument).join('\n').trimEnd()
  if (options.mermaid) return toMermaid(onlyOne(chosen)).trimEnd()
  return name === undefined ? drawList(canvas) : chosen.map((m) => drawMachine(m, canvas)).join()
}

function machineNamed(name: string): Machine {
  const machine = findMachine(name)
  if (machine !== undefined) return machine
  const revisions = MACHINES.filter((candidate) => candidate.id === name.split('@')[0])
  const [what, known] = revisions.length > 0 ? ['revision', revisions] : ['machine', MACHINES]
  const names = known.map((candidate) => candidate.name).join(', ')
  throw new UsageError(`There is no ${what} ${JSON.stringify(name)}. There are: ${names}.`)
}

function onlyOne(chosen: readonly Machine[]): Machine {
  const [first, ...others] = chosen
  if (first !== undefined && others.length === 0) return first
  const names = chosen.map((machine) => machine.name).join(', ')
  throw new UsageError(`A diagram shows one machine. Name one: ${names}.`)
}

function describeFindings(machine: Machine) {
  const findings = audit(machine).map((finding) => ({
    ...finding,
    remedy: remedyFor(machine, finding),
  }))
  return { id: machine.id, revision: machine.revision, findings }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
