import type { Toolbox } from '../tools/toolbox.ts'
import { callKey, type Reply } from './reply.ts'
import { readStrictJson } from './strict-json.ts'

/**
 * A reply that says in words what the tool is called with that ends the state, as that call. Models
 * without a sense for tools answer so. One that says two different things in that form is unusable,
 * since nobody can tell which is meant. Any other reply stays as it is.
 */
export function asSpokenEnding(reply: Reply, toolbox: Toolbox, messageCount: number): Reply {
  const { text, calls, finish } = reply
  if (toolbox.takesJson === undefined) return reply
  const [name] = toolbox.endsWith
  const said = saidIn(text, toolbox)
  const answers = calls.filter((call) => call.name === name).map(({ input }) => input)
  const meant = answers.length === 0 ? [] : [...answers, ...said]
  if (new Set(meant.map((input) => callKey({ id: '', name, input }))).size > 1) {
    const message = `${name} was answered in more than one way: give one answer`
    return { ...reply, calls: [], finish: 'failed', failure: { kind: 'invalid_output', message } }
  }
  if (calls.length > 0 || finish !== 'stop') return reply
  const input = readStrictJson(text)
  if (input === undefined) return reply
  const call = { id: `spoken_${messageCount}`, name, input }
  return { ...reply, calls: [call], finish: 'tool_calls' }
}

const FENCED = /```(?:json)?[ \t]*\r?\n([\s\S]*?)```/gi

/** Everything in a text that is an answer in the required form by its keys, whole or in parts. */
function saidIn(text: string, { takesJson = [] }: Toolbox): unknown[] {
  const blocks = [...text.matchAll(FENCED)].map(([, block = '']) => block)
  const braced = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
  return [text, ...blocks, braced].flatMap((part) => {
    const found = readStrictJson(part)
    return found && takesJson.some((key) => Object.hasOwn(found, key)) ? [found] : []
  })
}
