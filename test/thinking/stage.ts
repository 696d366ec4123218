import { afterEach } from 'vitest'
import type { Brain, Turn } from '../../src/effects/brains/brain.ts'
import { openThinkingWorld, type ThinkingSettings, type ThinkingWorld } from './world.ts'

let world: ThinkingWorld | undefined

afterEach(async () => {
  await world?.close()
  world = undefined
})

export const PLAN = {
  when: { state: 'PLANNING' },
  do: [{ call: 'submit_plan', input: { plan: 'Do it.', confidence: 'high' } }],
}
export const DONE = { do: [{ call: 'done', input: { summary: 'Done.' } }] }
export const shell = (command: string) => ({ call: 'shell', input: { command } })

/** A world that is closed after the test. */
export async function open(settings: ThinkingSettings): Promise<ThinkingWorld> {
  world = await openThinkingWorld(settings)
  return world
}

/** A brain that keeps the turns that it was asked for. */
export function watched(brain: Brain): Brain & { readonly turns: Turn[] } {
  const turns: Turn[] = []
  return {
    name: brain.name,
    turns,
    think(turn, signal) {
      turns.push(turn)
      return brain.think(turn, signal)
    },
  }
}

/** What tools answered, as a turn has it. */
export function resultsIn(turn: Turn | undefined): string[] {
  return (turn?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ text }) => text) : [],
  )
}
