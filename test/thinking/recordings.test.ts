import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Brain } from '../../src/effects/brains/brain.ts'
import { readCassette } from '../../src/effects/brains/cassette.ts'
import { openPlayingBrain, openRecordingBrain } from '../../src/effects/brains/recorded-brain.ts'
import { DONE, PLAN, resultsIn, shell, watched } from './stage.ts'
import { openThinkingWorld, scripted } from './world.ts'

const SECRET = 'correct-horse-battery-staple'
const LOOKALIKE = 'postgres://app:devpass1@db/app'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-recordings-'))
})

afterEach(() => rm(folder, { recursive: true }))

/** Lets a coder work, and gives the state that it came to and the answers of its tools. */
async function work(brain: Brain) {
  const seen = watched(brain)
  const world = await openThinkingWorld({ brain: seen, secrets: [SECRET], isolation: 'none' })
  try {
    const { state } = await world.reach(await world.start('s1'), 'TESTING', 'ERROR')
    return { state, answers: resultsIn(seen.turns.at(-1)) }
  } finally {
    await world.close()
  }
}

/** The same work as it was recorded, and as it was played after that. */
async function playAgain(...steps: readonly object[]) {
  const file = join(folder, 'turns.jsonl')
  const replies = steps.map((step, i) => ({ when: { turn: i + 1 }, do: [step] }))
  const brain = scripted(PLAN, ...replies, DONE)
  const recorded = await work(openRecordingBrain(brain, { file, secrets: [SECRET] }))
  const text = await readFile(file, 'utf8')
  const cassette = readCassette(text, file)
  if (!cassette.ok) throw new Error(cassette.problem)
  return { recorded, played: await work(openPlayingBrain(cassette.takes, [SECRET])), text }
}

const write = (text: string) => ({ call: 'write_file', input: { path: 'b.txt', text } })

test.each([
  ['writes what looks like a secret', write(`url: ${LOOKALIKE}\n`), 'b.txt: 2 lines written'],
  ['runs it', shell(`printf ${LOOKALIKE} | wc -c`), String(LOOKALIKE.length)],
  ['is refused a secret', write(`x ${SECRET}\n`), 'its input has a secret of this run in it'],
])('a recorded run that %s is played as it was', async (_, step, answer) => {
  const { recorded, played, text } = await playAgain(step, shell('cat b.txt 2>&1; echo again'))
  expect(recorded.state).toBe('TESTING')
  expect(recorded.answers[0]).toContain(answer)
  expect(played).toEqual(recorded)
  expect(text).not.toContain(SECRET)
})

test('a recorded run whose tools say something else each time is played', async () => {
  const { recorded, played } = await playAgain(shell('echo "3 passed in $(date +%N) ns"'))
  expect(recorded.state).toBe('TESTING')
  expect(played.state).toBe('TESTING')
  expect(played.answers).not.toEqual(recorded.answers)
})

test('a recorded run in which a tool fails that did not is not played on', async () => {
  const lasting = join(folder, 'lasting')
  const { recorded, played } = await playAgain(shell(`mkdir ${lasting}`))
  expect([recorded.state, played.state]).toEqual(['TESTING', 'ERROR'])
})
