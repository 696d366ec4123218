import { expect, test, vi } from 'vitest'
import { openFillable } from '../../test/drill/fillable-stage.ts'
import { obedient } from '../../test/drill/obedient-role.ts'
import { RUN } from '../../test/drill/stage.ts'
import { closeEngine } from './engine/closing.ts'
import type { Control } from './engine/control.ts'
import { waitForFailure } from './engine/waiting.ts'
import { workWith } from './foreground.ts'

test('the second Ctrl-C ends also work that waits for a full disk', async () => {
  const { stage, fill, isWaiting } = await openFillable(obedient())
  const { runtime } = stage
  fill()
  const engine = {
    control: {} as Control,
    drain: () => runtime.pause(RUN),
    fail: (signal: AbortSignal) => waitForFailure(runtime, signal),
    close: (working?: Promise<unknown>) =>
      closeEngine({
        team: { runtime, close: () => runtime.close() },
        server: { close: async () => {} },
        supervising: Promise.resolve(),
        leaving: new AbortController(),
        working,
      }),
  }
  const working = workWith(engine, RUN, () => stage.deliver('do').then(() => 0))
  const ended = expect(working).rejects.toThrow('the disk is full')
  await vi.waitUntil(isWaiting, { timeout: 20_000 })
  process.emit('SIGINT')
  process.emit('SIGINT')
  await ended
})

test('a terminal that is closed ends the work at once, and leaves nothing behind', async () => {
  const order: string[] = []
  const until = (signal: AbortSignal, then: string) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())).then(
      () => void order.push(then),
    )
  const engine = {
    control: {} as Control,
    drain: async () => void order.push('drained'),
    fail: (signal: AbortSignal) => until(signal, 'left'),
    close: async () => void order.push('closed'),
  }
  const working = workWith(engine, RUN, (_, signal) => until(signal, 'worked').then(() => 130))
  process.emit('SIGHUP')
  expect(await working).toBe(130)
  expect(order.toSorted()).toEqual(['closed', 'left', 'worked'])
})

test('the first Ctrl-C lets work that has begun come to its end', async () => {
  let end = (_: number) => {}
  const order: string[] = []
  const engine = {
    control: {} as Control,
    // There is no run yet.
    drain: async () => {
      throw new Error('no run')
    },
    fail: (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    close: async () => void order.push('closed'),
  }
  const working = workWith(engine, RUN, (_, signal) => {
    signal.addEventListener('abort', () => setImmediate(() => end(7)))
    return new Promise<number>((resolve) => {
      end = resolve
    }).finally(() => order.push('worked'))
  })
  process.emit('SIGINT')
  expect(await working).toBe(7)
  expect(order).toEqual(['worked', 'closed'])
})
