import type { PassThrough } from 'node:stream'
import { type AnyMessage, methods, ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { type AgentProcess, LINE_BYTES_MAX } from './agent-process.ts'
import { isSessionUpdate } from './session-update.ts'

/** What may wait to be read by an agent besides the last message, such as a long prompt. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024

/** Longer than any name and any id that means something. Both come back in what we answer. */
const WORD_CHARS_MAX = 1_000

/** What is told of what passes. */
export interface GateListener {
  /** A message came, whatever it says. */
  onMessage(): void
  /** The agent asks without reading what it is answered. */
  onFlood(): void
}

/**
 * The messages of an agent, as the library that speaks its protocol is to see them. All of them are
 * told; what nobody asked for or no protocol has is kept away, since the library would print it as
 * it is, with whatever key is in it, or send it back.
 */
export function openGate({ input, output }: AgentProcess, listener: GateListener): Stream {
  const way = writingTo(input, () => listener.onFlood())
  const stream = ndJsonStream(way, output as ReadableStream<Uint8Array>, {
    maxMessageBytes: LINE_BYTES_MAX,
  })
  const asked = new Set<unknown>()
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, passage) {
      listener.onMessage()
      const isForUs = isQuestion(message)
        ? isHeard(message) && bytesWaiting(input) <= WAITING_BYTES_MAX
        : isAnswer(message, asked)
      if (isForUs) passage.enqueue(message)
    },
  })
  const writer = stream.writable.getWriter()
  const outgoing = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message) asked.add(message.id)
      return writer.write(message)
    },
  })
  return { readable: stream.readable.pipeThrough(incoming), writable: outgoing }
}

/** Takes all at once, so that what waits does so in one place, where it is counted. */
function writingTo(input: PassThrough, onFlood: () => void): WritableStream<Uint8Array> {
  return new WritableStream({
    write(chunk) {
      if (bytesWaiting(input) > WAITING_BYTES_MAX) onFlood()
      else if (input.writable) input.write(chunk)
    },
  })
}

function bytesWaiting(input: PassThrough): number {
  return input.writableLength + input.readableLength
}

/** Whether a message is a request or a notification. */
function isQuestion(message: AnyMessage): boolean {
  if (!('method' in message) || !isWord(message.method)) return false
  return !('id' in message) || message.id === null || isWord(message.id) || isNumber(message.id)
}

/** Whether a message is anything but an update that has no form, or that nobody listens to. */
function isHeard(message: AnyMessage): boolean {
  if (!('method' in message) || message.method !== methods.client.session.update) return true
  return 'id' in message || isSessionUpdate(message.params)
}

/** Whether a message answers what was asked, and is the first to do so. */
function isAnswer(message: AnyMessage, asked: Set<unknown>): boolean {
  return !('method' in message) && 'id' in message && asked.delete(message.id)
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && value.length <= WORD_CHARS_MAX
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}
