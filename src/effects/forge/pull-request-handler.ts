import type { Json } from '../../agents/values.ts'
import type { Attempt, EffectHandler, Service } from '../../runtime/effect-handler.ts'
import { redact } from '../guards/redaction.ts'
import type { Forge, PullRequestDraft } from './forge.ts'

/** The service that effects on a forge need; there is none for the local one. */
export const FORGE_SERVICE = 'forge'

/** Several can be under way; GitHub counts what comes at once, and limits it. */
const CONCURRENCY_MAX = 4

/** A forge as a service, whose outage suspends those who wait for it. */
export function forgeService(forge: Forge): Service {
  return { concurrencyMax: CONCURRENCY_MAX, probe: (signal) => forge.probe(signal) }
}

/**
 * Carries out `open_pull_request`: publishes a branch and opens its pull request. Tried again, it
 * finds what it did before. No secret goes out with its texts.
 */
export function openPullRequestHandler(forge: Forge, secrets: readonly string[]): EffectHandler {
  return {
    ...(forge.kind === 'local' ? {} : { serviceOf: () => FORGE_SERVICE }),
    async run({ input }, { signal }): Promise<Attempt> {
      const given = readDraft(input)
      if (given === undefined) return fail('invalid', 'not the input of open_pull_request')
      const [title, body] = [redact(given.title, secrets), redact(given.body, secrets)]
      const draft = { ...given, title, body }
      const published = await forge.publish(draft, signal)
      if (!published.ok) return published
      if (published.value.kind === 'moved') {
        return fail('head_moved', `${draft.branch} is at ${published.value.head} by now`)
      }
      const opened = await forge.openPullRequest(draft, signal)
      if (!opened.ok) return opened
      const { number, url, head, state } = opened.value
      return { ok: true, value: { number, url, head, state } }
    },
  }
}

const fail = (code: string, message: string): Attempt => ({
  ok: false,
  error: { code, message, retry: 'never' },
})

function readDraft(input: Json): PullRequestDraft | undefined {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return undefined
  const { branch, target, head, title, body } = input as Readonly<Record<string, Json>>
  const draft = { branch, target, head, title, body }
  const isWhole = Object.values(draft).every((value) => typeof value === 'string')
  return isWhole ? (draft as PullRequestDraft) : undefined
}
