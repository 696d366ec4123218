/**
 * An orchestrator of its own, so that it can be another user, have other means, or be killed. It
 * opens sandboxes and runs commands as it is told, and answers with what came of it.
 * `node remote-worker.js <level> <state folder>`
 */
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Sandbox } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import type { Answer, Order } from './remote-isolation.ts'

const [level = '', stateFolder = ''] = process.argv.slice(2)
const processes = openProcesses(stateFolder)
const sandboxes = new Map<number, Sandbox>()
const aborts = new Map<number, AbortController>()

async function carryOut({ id, order }: Order): Promise<Answer['value']> {
  switch (order.kind) {
    case 'end_orphans':
      return await processes.endOrphans()
    case 'open':
      sandboxes.set(id, await isolation.open(order.settings))
      return id
    case 'run': {
      const abort = new AbortController()
      aborts.set(id, abort)
      const command = { ...order.command, signal: abort.signal }
      return await sandboxes.get(order.sandbox)?.run(command)
    }
    case 'abort':
      return aborts.get(order.run)?.abort()
    case 'close':
      return await sandboxes.get(order.sandbox)?.close()
  }
}

const open = level === 'none' ? openUnconfined : openBubblewrap
const isolation = await open(processes, { stateFolder })
const answer = (value: Answer) => void process.send?.(value)
process.on('message', (order: Order) => {
  carryOut(order).then(
    (value) => answer({ id: order.id, value }),
    (error) => answer({ id: order.id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
answer({ id: 0, value: isolation.description })
