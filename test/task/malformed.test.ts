import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { Json } from '../../src/agents/values.ts'
import type { Brain } from '../../src/effects/brains/brain.ts'
import { collectReply } from '../../src/effects/thinking/reply.ts'
import { asSpokenEnding } from '../../src/effects/thinking/spoken-ending.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'
import { answerCalls } from '../../src/effects/tools/tool-calls.ts'
import { toolboxOf } from '../../src/effects/tools/toolbox.ts'
import { Random } from '../drill/random.ts'
import { type Answer, type Form, type Sample, sampleOf } from './malformed-replies.ts'
import { BUILDS, DONE, PLAIN } from './replies.ts'
import { openTaskWorld, type TaskWorldSettings } from './world.ts'

const REPLIES = 2_000
/** Each takes three malformed answers. The long setting is 100. */
const TASKS = Number(process.env.SLIPWAY_MALFORMED_TASKS ?? 4)

/** A model that gives these answers, one for each turn, and the last one from then on. */
function answering(answers: readonly Answer[]): Brain {
  let turns = 0
  return {
    name: 'malformed',
    async *think(turn) {
      const answer = answers[Math.min(turns, answers.length - 1)] as Answer
      turns += 1
      if (answer.kind !== 'call' && answer.text !== '') yield { type: 'text', text: answer.text }
      const name = turn.endsWith?.[0] ?? ''
      for (const [i, input] of inputsOf(answer).entries()) {
        yield { type: 'tool_call', call: { id: `call_${turns}_${i}`, name, input } }
      }
      const reason = answer.kind === 'text' ? 'stop' : 'tool_calls'
      yield { type: 'finished', reason, model: 'm' }
    },
  }
}

function inputsOf(answer: Answer): readonly unknown[] {
  if (answer.kind === 'text') return []
  return answer.kind === 'call' ? [answer.input] : answer.inputs
}

/** What an answer is taken for: the input that ends the state, or nothing. */
async function takenFor(form: Form, answer: Answer): Promise<Json | undefined> {
  const toolbox = toolboxOf(`coordinator/${form}`)
  const turn = { endsWith: toolbox.endsWith } as never
  const { signal } = new AbortController()
  const said = await collectReply(answering([answer]), turn, signal, undefined)
  const { calls } = asSpokenEnding(said, toolbox, 1)
  const [taken] = await answerCalls(toolbox.tools, calls, {} as ToolContext)
  return taken?.ends
}

const seed = Date.now()

test.each(['review', 'test'] as const)(
  `${REPLIES} answers of a %s are taken for what they are`,
  async (form) => {
    console.log(`seed ${seed}`)
    const random = new Random(seed)
    const wrong: { name: string; answer: string; taken: unknown }[] = []
    for (let i = 0; i < REPLIES; i += 1) {
      const { name, answer, meant } = sampleOf(form, i, random)
      const taken = await takenFor(form, answer)
      if (!isDeepStrictEqual(taken ?? null, meant)) {
        wrong.push({ name, answer: JSON.stringify(answer).slice(0, 300), taken })
      }
    }
    expect(wrong).toEqual([])
  },
  120_000,
)

test(`${TASKS} whole tasks with malformed answers end, and none is approved`, async () => {
  const random = new Random(seed)
  const malformed = (form: Form): Answer => {
    let sample: Sample
    do sample = sampleOf(form, random.below(1_000), random)
    while (sample.meant !== null)
    return sample.answer
  }
  for (let i = 0; i < TASKS; i += 1) {
    const form = i % 2 === 0 ? 'review' : 'test'
    const answers = Array.from({ length: 6 }, () => malformed(form))
    const who = form === 'review' ? 'reviewer' : 'tester'
    const settings: TaskWorldSettings = {
      revision: i % 4 < 2 ? '2' : '1',
      limits: { taskRounds: 1 },
      replies: form === 'review' ? [BUILDS, DONE] : PLAIN,
      brains: { [who]: answering(answers) },
    }
    const world = await openTaskWorld(settings)
    try {
      const outcome = form === 'review' ? 'review_schema_invalid' : 'tester_schema_invalid'
      expect(await world.outcome(), JSON.stringify(answers).slice(0, 2_000)).toBe(outcome)
    } finally {
      await world.close()
    }
  }
}, 1_800_000)
