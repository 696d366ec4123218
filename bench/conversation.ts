import type { Answer } from '../test/providers/answer.ts'
import { type SeenRequest, startProviderServer } from '../test/providers/server.ts'

/** Streams of real models pause between their frames; here as long for everybody. */
const FRAME_DELAY_MS = 15

/** Something that runs what a model asks for. */
export interface Conversant {
  readonly name: string
  readonly version: string
  /** What it calls running a line of shell, and how it wants the line. */
  readonly shell: { readonly tool: string; input(line: string): unknown }
  /** What ends its conversation; a text where that is enough. */
  readonly end?: { readonly tool: string; readonly input: unknown }
  /** Has one conversation with the model at that address, from its start to its end. */
  converse(url: string, turns: number): Promise<void>
}

/** What the server saw of a conversation. */
export interface Conversation {
  /** How many requests there were. */
  readonly turns: number
  /** From the last byte of each reply that called the shell to the first byte of the next request. */
  readonly turnaroundsMs: readonly number[]
  readonly firstRequestBytes: number
  readonly inputTokens: number
  /** Those that a provider would have served from its cache. */
  readonly cachedTokens: number
  /** Those that an earlier request had begun with, which is the most that could be served. */
  readonly commonTokens: number
}

/** Has a model call the shell so many times, and measures what comes back. */
export async function measureConversation(
  conversant: Conversant,
  calls: number,
  lineOf: (call: number) => string,
): Promise<Conversation> {
  const server = await startProviderServer()
  try {
    const requests: SeenRequest[] = []
    server.answer((request) => {
      // Titles, summaries and the like, which some ask for besides.
      if (!toolsOf(request.body).includes(conversant.shell.tool)) return say('Fine.')
      requests.push(request)
      return answerOf(conversant, requests.length, calls, lineOf)
    })
    await conversant.converse(server.url, calls + 1)
    if (requests.length !== calls + 1) {
      throw new Error(`${conversant.name} sent ${requests.length} requests, not ${calls + 1}`)
    }
    return summarise(requests)
  } finally {
    await server.close()
  }
}

function answerOf(
  { shell, end }: Conversant,
  number: number,
  calls: number,
  lineOf: (call: number) => string,
): Answer {
  if (number <= calls) return call(shell.tool, shell.input(lineOf(number)))
  return end === undefined ? say('That was all.') : call(end.tool, end.input)
}

function call(name: string, input: unknown): Answer {
  return { reply: { parts: [{ type: 'call', name, input }] }, frameDelayMs: FRAME_DELAY_MS }
}

function say(text: string): Answer {
  return { reply: { parts: [{ type: 'text', text }] }, frameDelayMs: FRAME_DELAY_MS }
}

function summarise(requests: readonly SeenRequest[]): Conversation {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const turnaroundsMs = requests.slice(1).map(({ arrivedMs }, i) => {
    return arrivedMs - (requests[i]?.answeredMs ?? Number.NaN)
  })
  return {
    turns: requests.length,
    turnaroundsMs,
    firstRequestBytes: requests[0]?.bytes ?? Number.NaN,
    inputTokens: sum(requests.map(({ inputTokens }) => inputTokens)),
    cachedTokens: sum(requests.map(({ cachedTokens }) => cachedTokens)),
    commonTokens: sum(requests.map(({ commonTokens }) => commonTokens)),
  }
}

/** The names of the tools that a request offers, on any wire. */
function toolsOf(body: SeenRequest['body']): readonly string[] {
  const tools = (body.tools ?? []) as readonly Record<string, unknown>[]
  return tools.flatMap(({ name, function: own, functionDeclarations: several }) => {
    if (Array.isArray(several)) return several.map((one: { name: string }) => one.name)
    return String(name ?? (own as { name?: string } | undefined)?.name)
  })
}
