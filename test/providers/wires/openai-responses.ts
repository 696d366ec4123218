import type { Reply, ReplyPart } from '../answer.ts'
import { block, listIn, pieces, type ReplyFacts, sse, type Wire } from '../wire.ts'
import { openaiError } from './openai-errors.ts'

const REFUSAL = "I'm sorry, but I can't help with that."

interface Item {
  readonly id: string
  readonly type: string
  readonly [field: string]: unknown
}

/** OpenAI's Responses. */
export const openaiResponses: Wire = {
  name: 'openai-responses',
  contentType: 'text/event-stream; charset=utf-8',
  matches: (path) => path.endsWith('/responses'),
  modelOf: (_, body) => String(body.model),
  isStreaming: (_, body) => body.stream === true,
  blocksOf: (body) => [
    ...listIn(body.tools).map((tool) => block('tool', tool)),
    ...(body.instructions ? [block('instructions', body.instructions)] : []),
    ...(typeof body.input === 'string'
      ? [block('input', body.input)]
      : listIn(body.input).map((item) => block('input', item))),
  ],
  framesOf,
  bodyOf: (reply, facts) => finalOf(reply, facts),
  errorOf: openaiError,
  // The events of a failure carry no number that anybody checks.
  errorFrame: sse(
    {
      type: 'response.failed',
      sequence_number: 99,
      response: {
        id: 'resp_failed',
        object: 'response',
        status: 'failed',
        error: {
          code: 'server_is_overloaded',
          message: 'Our servers are currently overloaded. Please try again later.',
        },
        incomplete_details: null,
        output: [],
        usage: null,
      },
    },
    'response.failed',
  ),
  garbageFrame: 'event: response.output_text.delta\ndata: {"type":"response.output_te\n\n',
}

function framesOf(reply: Reply, facts: ReplyFacts): string[] {
  const response = { ...envelopeOf(facts), status: 'in_progress', output: [], usage: null }
  const final = finalOf(reply, facts)
  const last = final.status === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const events: object[] = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...partsOf(reply).flatMap((part, index) => itemEvents(part, facts, index, reply.pieceChars)),
    { type: last, response: final },
  ]
  return events.map((data, index) => {
    const numbered = { ...data, sequence_number: index }
    return sse(numbered, (data as { type: string }).type)
  })
}

/** A refusal is content of a message. */
type Part = ReplyPart | { readonly type: 'refusal' }

function partsOf({ parts, end }: Reply): readonly Part[] {
  return end === 'refused' ? [...parts, { type: 'refusal' }] : parts
}

function itemEvents(part: Part, facts: ReplyFacts, index: number, pieceChars?: number): object[] {
  const item = itemOf(part, facts, index)
  const place = { item_id: item.id, output_index: index }
  return [
    { type: 'response.output_item.added', output_index: index, item: emptyOf(item) },
    ...contentEvents(part, place, pieceChars),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

function contentEvents(part: Part, place: object, pieceChars?: number): object[] {
  if (part.type === 'text') return textEvents(part.text, place, pieceChars)
  if (part.type === 'refusal') return refusalEvents(place)
  if (part.type === 'reasoning') return summaryEvents(part.text, place, pieceChars)
  const json = argumentsOf(part)
  const type = 'response.function_call_arguments'
  return [
    ...pieces(json, pieceChars).map((delta) => ({ type: `${type}.delta`, ...place, delta })),
    { type: `${type}.done`, ...place, arguments: json },
  ]
}

function textEvents(text: string, place: object, pieceChars?: number): object[] {
  const at = { ...place, content_index: 0 }
  const part = { type: 'output_text', annotations: [], logprobs: [], text }
  const type = 'response.output_text'
  const empty = { ...part, text: '' }
  return [
    { type: 'response.content_part.added', ...at, part: empty },
    ...pieces(text, pieceChars).map((delta) => ({
      type: `${type}.delta`,
      ...at,
      delta,
      logprobs: [],
    })),
    { type: `${type}.done`, ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
  ]
}

function refusalEvents(place: object): object[] {
  const at = { ...place, content_index: 0 }
  return [
    { type: 'response.content_part.added', ...at, part: { type: 'refusal', refusal: '' } },
    ...pieces(REFUSAL).map((delta) => ({ type: 'response.refusal.delta', ...at, delta })),
    { type: 'response.refusal.done', ...at, refusal: REFUSAL },
    { type: 'response.content_part.done', ...at, part: { type: 'refusal', refusal: REFUSAL } },
  ]
}

function summaryEvents(text: string, place: object, pieceChars?: number): object[] {
  const at = { ...place, summary_index: 0 }
  const type = 'response.reasoning_summary'
  return [
    { type: `${type}_part.added`, ...at, part: { type: 'summary_text', text: '' } },
    ...pieces(text, pieceChars).map((delta) => ({ type: `${type}_text.delta`, ...at, delta })),
    { type: `${type}_text.done`, ...at, text },
    { type: `${type}_part.done`, ...at, part: { type: 'summary_text', text } },
  ]
}

function itemOf(part: Part, { number, body }: ReplyFacts, index: number): Item {
  const id = `${number}_${index}`
  if (part.type === 'reasoning') {
    const isWanted = listIn(body.include).some((name) => String(name).includes('encrypted'))
    const encrypted = Buffer.from(`encrypted by the provider ${id}`).toString('base64')
    const summary = [{ type: 'summary_text', text: part.text }]
    const shown = isWanted ? { encrypted_content: encrypted } : {}
    return { id: `rs_${id}`, type: 'reasoning', summary, ...shown }
  }
  if (part.type === 'text' || part.type === 'refusal') {
    const content =
      part.type === 'text'
        ? { type: 'output_text', annotations: [], logprobs: [], text: part.text }
        : { type: 'refusal', refusal: REFUSAL }
    const message = { status: 'completed', role: 'assistant', content: [content] }
    return { id: `msg_${id}`, type: 'message', ...message }
  }
  const callId = (part.type === 'call' ? part.id : undefined) ?? `call_${id}`
  const call = { status: 'completed', call_id: callId, ...namesOf(part.name, body) }
  return { id: `fc_${id}`, type: 'function_call', ...call, arguments: argumentsOf(part) }
}

/** A tool that was offered in a namespace is called by both names. */
function namesOf(name: string, body: ReplyFacts['body']): { name: string; namespace?: string } {
  const spaces = listIn(body.tools).filter(({ type }) => type === 'namespace')
  const space = spaces.find((one) => name.startsWith(`${one.name}__`))
  if (space === undefined) return { name }
  return { name: name.slice(`${space.name}__`.length), namespace: String(space.name) }
}

function emptyOf(item: Item): object {
  if (item.type === 'reasoning') return { ...item, summary: [] }
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  return { ...item, status: 'in_progress', arguments: '' }
}

function argumentsOf(part: Extract<Part, { name: string }>): string {
  return part.type === 'bad_call' ? part.text : JSON.stringify(part.input)
}

function envelopeOf({ number, model, body }: ReplyFacts) {
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_760_000_000,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: body.max_output_tokens ?? null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: body.store ?? true,
    text: { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    metadata: {},
  }
}

function finalOf(reply: Reply, facts: ReplyFacts) {
  const { inputTokens, cachedTokens, outputTokens } = facts
  const reason =
    reply.end === 'length'
      ? 'max_output_tokens'
      : reply.end === 'filtered' || reply.end === 'prompt_blocked'
        ? 'content_filter'
        : undefined
  return {
    ...envelopeOf(facts),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: partsOf(reply).map((part, index) => itemOf(part, facts, index)),
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  }
}
