import type { Attempt, EffectHandler } from '../../runtime/effect-handler.ts'
import { readFields } from '../effect-input.ts'
import type { Forge } from '../forge/forge.ts'
import { FORGE_SERVICE } from '../forge/pull-request-handler.ts'
import { GitGuardError } from '../guards/git-guard.ts'
import { redact } from '../guards/redaction.ts'
import { machineOf } from '../machine.ts'
import { readable } from './byte-path.ts'
import { type Owner, PlaceError } from './place.ts'
import type { Workspaces } from './workspaces.ts'

const OPTIONAL = ['base', 'content', 'onto'] as const

/**
 * Carries out `prepare_workspace`: { run, story, target } and optionally { base, content, onto }.
 * Without a base, a workspace that is there stays as it is, and a new one stands on the target. Onto
 * the `target`, one that stands on an older commit of it is made anew.
 */
export function prepareWorkspaceHandler(workspaces: Workspaces, forge: Forge): EffectHandler {
  return {
    policy: { attemptsMax: 3 },
    ...(forge.kind === 'local' ? {} : { serviceOf: () => FORGE_SERVICE }),
    run: ({ input }, { signal }) =>
      attempt(async () => {
        const fields = readFields(input, ['run', 'story', 'target'], OPTIONAL)
        if (fields === undefined) return invalid('prepare_workspace')
        const { run, story, target, base, content, onto } = fields
        const owner = { run, story }
        const present = (base ?? onto) === undefined ? await workspaces.find(owner) : undefined
        if (present !== undefined) return { ok: true, value: { ...present } }
        const tip = base === undefined ? await forge.readTarget(target, signal) : undefined
        if (tip?.ok === false) return tip
        const prepared = await workspaces.prepare(owner, base ?? tip?.value ?? '', content)
        return { ok: true, value: { ...prepared } }
      }),
  }
}

/**
 * Carries out `checkpoint`: { run, story }, and with a `message` also a commit on the branch. What
 * the story changes so far is kept as a blob; what could not be stored is named.
 */
export function checkpointHandler(
  workspaces: Workspaces,
  diffOf: (from: string, to: string) => Promise<string>,
  secrets: readonly string[],
): EffectHandler {
  const clean = (text: string) => redact(text, secrets)
  return {
    policy: { attemptsMax: 3 },
    run: ({ input }, { blobs }) =>
      attempt(async () => {
        const fields = readFields(input, ['run', 'story'], ['message'])
        if (fields === undefined) return invalid('checkpoint')
        const { message, ...owner } = fields
        const { commit, base, tree, unstored } = await workspaces.checkpoint(owner)
        const head =
          message === undefined ? undefined : await workspaces.commit(owner, clean(message))
        const diff = await blobs.put(clean(await diffOf(base, head ?? commit)))
        const left =
          unstored.length === 0 ? {} : { unstored: unstored.map((path) => clean(readable(path))) }
        const value = { commit, base, tree, head: head ?? null, diff: { ...diff }, ...left }
        return { ok: true, value }
      }, clean),
  }
}

/**
 * Carries out `clean_up`: { run, story }. What is removed has been stored; the outcome names the
 * folder that was kept instead, and what in it is stored nowhere else. `forget` is for what others
 * remember of the story's attempt.
 */
export function cleanUpHandler(
  workspaces: Workspaces,
  forget: (owner: Owner) => Promise<void> = async () => {},
): EffectHandler {
  return {
    policy: { attemptsMax: 3 },
    run: ({ input }) =>
      attempt(async () => {
        const owner = readFields(input, ['run', 'story'], [])
        if (owner === undefined) return invalid('clean_up')
        const kept = await workspaces.remove(owner)
        await forget(owner)
        return { ok: true, value: kept === undefined ? null : { kept: { ...kept } } }
      }),
  }
}

const invalid = (kind: string): Attempt => ({
  ok: false,
  error: { code: 'invalid_input', message: `not the input of ${kind}`, retry: 'never' },
})

/** A full disk or a busy machine may be better next time; a bad name is not. */
async function attempt(
  work: () => Promise<Attempt>,
  clean: (text: string) => string = redact,
): Promise<Attempt> {
  try {
    return await work()
  } catch (error) {
    const isBad = error instanceof GitGuardError || error instanceof PlaceError
    const message = clean(String(error))
    if (isBad) return { ok: false, error: { code: 'invalid_input', message, retry: 'never' } }
    const lacking = machineOf(error)
    return { ok: false, error: { code: 'workspace_failed', message, retry: 'later', ...lacking } }
  }
}
