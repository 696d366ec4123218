import type { StoredRow } from '../../runtime/records.ts'
import { printable } from '../printable.ts'
import { placeOf } from './run-view.ts'

/** What of a row is worth a line to somebody who watches; undefined for what is not. */
export function newsOf(row: StoredRow): string | undefined {
  const { kind, agentId, from, to, move, body, atMs } = row
  const place = placeOf(agentId)
  const isNews = kind === 'moved' || kind === 'halted' || kind === 'set_aside'
  if (!isNews || place === 'ledger') return undefined
  const time = new Date(atMs).toISOString().slice(11, 19)
  const reason = firstLine(body.reason ?? body.error ?? '')
  const because = reason === '' ? '' : ` (${reason})`
  const what = kind === 'moved' ? `${from} → ${to}  ${move}` : `${kind} in ${to}`
  return printable(`${time}  ${place.padEnd(14)} ${what}${because}`)
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, 160).toWellFormed()
}
