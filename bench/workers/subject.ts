/**
 * `subject <module> <export> <arguments as JSON>`: opens a subject, and takes a round for each
 * message, which says how long; ends when nobody listens any more.
 */
import type { DurableSubject } from '../rounds.ts'

const [module = '', name = '', args = '[]'] = process.argv.slice(2)
const subject: DurableSubject = await (await import(module))[name](...JSON.parse(args))
process.on('message', async (roundMs: number) => process.send?.(await subject.run(roundMs)))
process.on('disconnect', () => void subject.close())
process.send?.('ready')
