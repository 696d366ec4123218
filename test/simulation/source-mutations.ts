import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { simulate } from './simulate.ts'

/** A deliberate bug in the source: one line of one file, and what stands there instead. */
interface SourceMutation {
  readonly file: string
  readonly line: string
  readonly becomes: string
}

const FOLDER = 'node_modules/.cache/slipway-simulation'
const ENTRY = fileURLToPath(new URL('./simulate.ts', import.meta.url))

/** Bugs of the runtime itself, each of which the simulation has to notice. */
export const SOURCE_MUTATIONS: Readonly<Record<string, SourceMutation>> = {
  'effects are started before the commit': {
    file: 'turn-loop.ts',
    line: 'await this.#commit(turn)',
    becomes: 'this.#parts.publish(turn); await this.#commit(turn)',
  },
  'an effect that was held begins before that is known': {
    file: 'hold.ts',
    line: 'await this.#tell(this.#effect, false)',
    becomes: 'void this.#tell(this.#effect, false)',
  },
  'an effect that was restored is not let go': {
    file: 'open-effects.ts',
    line: "const isHeld = record.phase === 'held'",
    becomes: 'const isHeld = false',
  },
  'events are acknowledged before the commit': {
    file: 'turn-loop.ts',
    line: 'await this.#commit(turn)',
    becomes: 'arrivals.forEach((a, i) => settle(a, results[i])); await this.#commit(turn)',
  },
  'a journal that is busy ends the runtime': {
    file: 'patient-journal.ts',
    line: "const mayPass = error instanceof JournalError && ['busy', 'full'].includes(error.fault)",
    becomes: 'const mayPass = false',
  },
  'a commit in doubt is tried under another name': {
    file: 'patient-journal.ts',
    line: 'return this.#ask(() => this.#journal.commit(batch))',
    becomes:
      'return this.#ask(() => this.#journal.commit({ ...batch, id: batch.id + this.#clock.nowMs() }))',
  },
  'an id that is repeated within one turn is accepted': {
    file: 'turn.ts',
    line: 'this.#seen.add(id)',
    becomes: '',
  },
  'an effect stays open when its outcome is in': {
    file: 'turn.ts',
    line: 'this.batch.removeEffect(id)',
    becomes: '',
  },
  'a timer that fired is not removed': {
    file: 'turn.ts',
    line: 'this.batch.removeTimer(agent, name)',
    becomes: '',
  },
  'timers of an agent are not removed with it': {
    file: 'turn.ts',
    line: 'if (after.timers[name] === undefined) this.batch.removeTimer(after.key, name)',
    becomes: '',
  },
  'the next due time is not brought forward': {
    file: 'turn.ts',
    line: 'this.#memory.nextDueMs = Math.min(this.#memory.nextDueMs ?? Infinity, timer.dueMs)',
    becomes: 'this.#memory.nextDueMs ??= timer.dueMs',
  },
  'handled mail stays in the journal': {
    file: 'batch-builder.ts',
    line: 'this.#inboxRemoved.push(order)',
    becomes: '',
  },
  'mail that is left is not stored': {
    file: 'batch-builder.ts',
    line: 'return [...replaced, ...this.#newMail.filter((event) => event !== undefined)]',
    becomes: 'return replaced',
  },
  'mail is taken from the wrong end': {
    file: 'residents.ts',
    line: 'return record.state === SUSPEND ? undefined : mail.shift()',
    becomes: 'return record.state === SUSPEND ? undefined : mail.pop()',
  },
  'a suspended agent handles its mail': {
    file: 'residents.ts',
    line: 'return record.state === SUSPEND ? undefined : mail.shift()',
    becomes: 'return mail.shift()',
  },
  'an event whose handling threw goes to the end of the line': {
    file: 'residents.ts',
    line: ';(event.urgent ? resident.urgent : resident.mail).unshift(event)',
    becomes: ';(event.urgent ? resident.urgent : resident.mail).push(event)',
  },
  'a timer that was set again fires by its old setting': {
    file: 'handle.ts',
    line: 'return agent.timers[name]?.epoch === epoch ? { timers: { [name]: null } } : {}',
    becomes: 'return { timers: { [name]: null } }',
  },
  'a timer whose event is set aside is forgotten': {
    file: 'handle.ts',
    line: 'const over = event.type === TIMER_FIRED ? timerOver(agent, event) : {}',
    becomes: 'const over = {}',
  },
  'an agent is restarted once too often': {
    file: 'handle.ts',
    line: 'if (failed && recent.length >= limits.restartsMax) {',
    becomes: 'if (failed && recent.length > limits.restartsMax) {',
  },
  'restarts that lie long ago count': {
    file: 'handle.ts',
    line: 'const recent = agent.restartsMs.filter((ms) => ms > event.atMs - limits.restartWindowMs)',
    becomes: 'const recent = agent.restartsMs',
  },
  'an agent that is revived is still held to its past': {
    file: 'handle.ts',
    line: 'return bear(role, agent, event, [])',
    becomes: 'return bear(role, agent, event, agent.restartsMs)',
  },
  'the origin is forgotten in SUSPEND': {
    file: 'fold.ts',
    line: 'if (row.from === SUSPEND || row.to === SUSPEND) return agent.origin',
    becomes: '',
  },
  'a returning state forgets where it came from': {
    file: 'fold.ts',
    line: 'return row.to !== null && returning.includes(row.to) ? row.from : null',
    becomes: 'return null',
  },
  'what waited for a service is not started again': {
    file: 'turn.ts',
    line: 'this.started.push(effect.id)',
    becomes: '',
  },
  'a restart does not ask whether an effect was carried out': {
    file: 'memory.ts',
    line: 'for (const effect of recovery.effects) memory.effects.add(effect, true)',
    becomes: 'for (const effect of recovery.effects) memory.effects.add(effect, false)',
  },
  'a second try does not ask whether the first was carried out': {
    file: 'executor.ts',
    line: 'const again = repeated || attempt > 1',
    becomes: 'const again = repeated',
  },
  'the next try does not wait for the last to end': {
    file: 'executor.ts',
    line: 'if (isWorking) await this.#waitForEnd(work)',
    becomes: '',
  },
  'a time that a service named holds for nobody': {
    file: 'service-gate.ts',
    line: 'this.#closedUntilMs = Math.max(this.#closedUntilMs, timeMs)',
    becomes: '',
  },
  'who waited for a place does not look whether the service may be asked': {
    file: 'executor.ts',
    line: 'if (isLetGo && !gate?.isClosed && !gate?.isOut) return undefined',
    becomes: 'if (isLetGo) return undefined',
  },
  'a stopped effect counts as ended at once': {
    file: 'open-effects.ts',
    line: 'this.#effects.get(id)?.running?.abort()',
    becomes: 'const o = this.#effects.get(id); o?.running?.abort(); if (o) delete o.running',
  },
  'effects run without a limit': {
    file: 'executor.ts',
    line: 'this.#places = new Places(parts.runningMax ?? Infinity)',
    becomes: 'this.#places = new Places(Infinity)',
  },
  'a place is not given on': {
    file: 'places.ts',
    line: 'else next.come()',
    becomes: '',
  },
  'resume forgets the mail that waited': {
    file: 'embedded-runtime.ts',
    line: 'for (const agent of agentsWithMail) this.#memory.residents.markReady(agent)',
    becomes: '',
  },
  'resume forgets the effects that were stopped': {
    file: 'embedded-runtime.ts',
    line: 'for (const { id } of this.#memory.effects.ofRun(run)) this.#startEffect(id)',
    becomes: '',
  },
  'an outage is told to nobody': {
    file: 'embedded-runtime.ts',
    line: 'turn.mail(resident, this.#urgent(SERVICE_UNAVAILABLE, payload))',
    becomes: '',
  },
}

/** The simulation on a runtime with that bug. Fails unless the line is there exactly once. */
export async function simulateWith(
  name: string,
  { file, line, becomes }: SourceMutation,
): Promise<typeof simulate> {
  let places = 0
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'node',
    plugins: [
      {
        name: 'mutation',
        transform(code, id) {
          if (!id.endsWith(`/src/runtime/${file}`)) return null
          const lines = code.split('\n')
          places = lines.filter((text) => text.trim() === line).length
          if (places !== 1) return null
          return lines.map((text) => (text.trim() === line ? becomes : text)).join('\n')
        },
      },
    ],
  })
  const path = join(FOLDER, `${name.replaceAll(/\W+/g, '-')}.mjs`)
  await bundle.write({ file: path })
  await bundle.close()
  if (places !== 1) throw new Error(`${file} has ${places} times the line ${line}`)
  return (await import(pathToFileURL(path).href)).simulate
}
