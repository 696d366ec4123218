import { describe, expect, test } from 'vitest'
import { obedient, openStage, THINK } from '../../test/drill/obedient-role.ts'
import { RUN } from '../../test/drill/stage.ts'
import { EFFECT_FINISHED } from '../agents/role.ts'
import { type BlobStore, NoRoomError } from './blobs.ts'

const MINUTE_MS = 60_000
const ref = { sha256: 'a', bytes: 1 }

/** A stage whose effect stores a blob and then does the rest, among blobs that can be made to fail. */
async function openStoring(rest: () => Promise<unknown> = async () => {}) {
  const trouble: { error?: Error } = {}
  const record: string[] = []
  const blobs: BlobStore = {
    put: async () => {
      if (trouble.error !== undefined) throw trouble.error
      return ref
    },
    get: async () => new Uint8Array(),
  }
  const say = (what: string) => record.push(`${stage.clock.elapsedMs / 1_000} ${what}`)
  const { stage } = await openStage(obedient(), {
    blobs,
    handlers: {
      think: {
        policy: { timeoutMs: MINUTE_MS, attemptsMax: 2 },
        run: async (_, context) => {
          say('paid')
          const stored = await context.blobs.put('x').catch((error: Error) => error.name)
          say(`stored ${typeof stored === 'string' ? stored : stored.sha256}`)
          await rest()
          return { ok: true, value: null }
        },
      },
    },
  })
  return { stage, trouble, record }
}

describe('a blob store without room', () => {
  const full = new NoRoomError('it is full')

  test('is waited for, longer than a try may take: what was paid for is kept', async () => {
    const { stage, trouble, record } = await openStoring()
    trouble.error = full
    await stage.deliver('do', THINK)
    await stage.pass(20 * MINUTE_MS)
    expect(stage.runtime.health()).toEqual({ state: 'waiting_for_room', error: 'it is full' })
    delete trouble.error
    await stage.pass(10_000)
    expect(stage.runtime.health()).toEqual({ state: 'well' })
    expect(stage.agent().data).toEqual({ told: [EFFECT_FINISHED] })
    expect(record).toEqual(['0 paid', expect.stringMatching(/^120\d\S* stored a$/)])
  })

  test('takes no time from a try, and gives it none', async () => {
    const { stage, trouble, record } = await openStoring(() => new Promise(() => {}))
    trouble.error = full
    await stage.deliver('do', THINK)
    await stage.pass(10 * MINUTE_MS)
    delete trouble.error
    await stage.pass(MINUTE_MS - 10_000)
    expect(record).toHaveLength(2)
    await stage.pass(MINUTE_MS)
    expect(record).toHaveLength(4)
  })

  test.each(['stop', 'close'] as const)('is waited for no longer at a %s', async (how) => {
    const { stage, trouble, record } = await openStoring()
    trouble.error = full
    await stage.deliver('do', THINK)
    await stage.pass(MINUTE_MS)
    if (how === 'stop') await stage.runtime.stop(RUN)
    else await stage.close()
    await stage.pass(0)
    expect(record).toEqual(['0 paid', '60 stored NoRoomError'])
    expect(stage.runtime.health()).toEqual({ state: 'well' })
    expect(stage.disk.contents.effects.size).toBe(1)

    delete trouble.error
    if (how === 'stop') await stage.runtime.resume(RUN)
    else await stage.open()
    await stage.pass(1_000)
    expect(stage.agent().data).toEqual({ told: [EFFECT_FINISHED] })
  })

  test('for another reason is not waited for', async () => {
    const { stage, trouble, record } = await openStoring()
    trouble.error = new RangeError('it is broken')
    await stage.deliver('do', THINK)
    await stage.pass(0)
    expect(record).toEqual(['0 paid', '0 stored RangeError'])
  })
})
