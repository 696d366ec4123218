import {
  type ClientConnection,
  client,
  MessageTooLargeError,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import type { Usage } from '../brain.ts'
import { readTokens } from '../token-count.ts'
import { openGate } from './acp-gate.ts'
import type { AgentCommand } from './agent.ts'
import {
  explainLongLine,
  explainNoTools,
  explainOddAnswer,
  explainSilence,
  explainVersion,
  explainWords,
} from './agent-failure.ts'
import type { AgentStart } from './agent-place.ts'
import type { AgentProcess } from './agent-process.ts'
import { offeredTools, TOOL_SERVER, writePrompt } from './agent-prompt.ts'
import type { AgentEnd, AgentProtocol, Conversation, ConversationTask } from './agent-turn.ts'
import { readAnnouncedCall } from './called-tool.ts'
import { choosePermission, isPermitted, learnOf, type WantedStep } from './permission.ts'

/** The protocol's code for an agent that wants its user to sign in first. */
const AUTH_REQUIRED = -32_000

/** Longer than any turn: the clocks of the turn decide. */
const PROCESS_MS_MARGIN = 60_000

/**
 * Which part of the time until a first token our tools may take to be there: they are started with
 * the session, and not every agent waits for them before it answers.
 */
const JOINING_PART = 1 / 5

/** Talks the Agent Client Protocol with a command. */
export function speakAcp(command: AgentCommand): AgentProtocol {
  return {
    command,
    begin: (task) => new AcpConversation(task, command),
  }
}

/** One session with one prompt. */
class AcpConversation implements Conversation {
  readonly ended: Promise<AgentEnd>
  readonly #task: ConversationTask
  readonly #command: AgentCommand
  readonly #process: AgentProcess
  readonly #connection: ClientConnection
  readonly #steps = new Map<string, WantedStep>()
  #sessionId: string | undefined
  /** What went wrong, if nothing was said since. */
  #trouble: string | undefined
  #hasSpoken = false
  #isCancelled = false

  constructor(task: ConversationTask, command: AgentCommand) {
    this.#task = task
    this.#command = command
    this.#process = task.place.start(startOf(task, command))
    const stream = openGate(this.#process, {
      onMessage: () => {
        this.#hasSpoken = true
        task.report.update()
      },
      onFlood: () => task.report.unread(),
    })
    this.#connection = client({ name: TOOL_SERVER })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.#permit(params))
      .onNotification(methods.client.session.update, ({ params }) => this.#take(params.update))
      .connect(stream)
    this.ended = this.#converse().catch((error) => this.#explain(error))
  }

  cancel(): boolean {
    this.#isCancelled = true
    if (this.#sessionId === undefined) return false
    const { agent } = this.#connection
    agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId }).catch(() => {})
    return true
  }

  async #converse(): Promise<AgentEnd> {
    const { agent } = this.#connection
    const { turn, place, report } = this.#task
    const greeted = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: TOOL_SERVER, version: '1.0.0' },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        session: { notices: {} },
      },
    })
    const version = partOf(greeted, 'protocolVersion', methods.agent.initialize)
    if (version !== PROTOCOL_VERSION)
      return { how: 'failed', failure: explainVersion(version, PROTOCOL_VERSION) }
    const { command, args, env } = place.bridge
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
    const server = { name: TOOL_SERVER, command, args: [...args], env: variables }
    const wanted: NewSessionRequest = {
      cwd: place.workspace.folder,
      mcpServers: [server],
      _meta: { ...this.#command.meta?.[place.workspace.access] },
    }
    const session = await agent.request(methods.agent.session.new, wanted)
    const sessionId = partOf(session, 'sessionId', methods.agent.session.new)
    this.#sessionId = sessionId
    await this.#setMode(session.modes?.availableModes.map(({ id }) => id) ?? [])
    await this.#setModel(session.configOptions ?? [])
    const isReady = await this.#joinTools()
    if (this.#isCancelled) return { how: 'stop' }
    if (!isReady) return { how: 'failed', failure: explainNoTools() }
    const answer = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text: writePrompt(turn) }],
    })
    const end = endOf(partOf(answer, 'stopReason', methods.agent.session.prompt))
    report.usage = readUsage(answer) ?? report.usage
    if (end.how !== 'stop' || this.#trouble === undefined) return end
    // Not every agent that cannot go on says so by an error.
    return { how: 'failed', failure: explainWords(this.#trouble, place.secrets) }
  }

  async #setMode(offered: readonly string[]): Promise<void> {
    const { confinement, workspace } = this.#task.place
    const modeId = this.#command.modes?.[confinement][workspace.access]
    if (modeId === undefined || !offered.includes(modeId)) return
    const sessionId = this.#sessionId ?? ''
    await this.#connection.agent.request(methods.agent.session.setMode, { sessionId, modeId })
  }

  async #setModel(offered: readonly SessionConfigOption[]): Promise<void> {
    const { model } = this.#task.options
    const option = offered.find(({ category, type }) => category === 'model' && type === 'select')
    if (model === undefined || this.#command.model !== undefined || option === undefined) return
    const wanted = { sessionId: this.#sessionId ?? '', configId: option.id, value: model }
    await this.#connection.agent.request(methods.agent.session.setConfigOption, wanted)
  }

  /** After the prompt, whoever connects may be a command that the model has run. */
  async #joinTools(): Promise<boolean> {
    const gone = this.#connection.signal
    const { place, options } = this.#task
    const late = AbortSignal.timeout(options.timeouts.firstTokenMs * JOINING_PART)
    const isJoined = await place.tools.join(AbortSignal.any([gone, late]))
    // Of one that is gone, the next request tells how it went.
    return isJoined || gone.aborted
  }

  #take(update: SessionUpdate): void {
    const { report, place } = this.#task
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
      this.#hear(update.content.text, update.messageId)
    } else if (update.sessionUpdate === 'agent_thought_chunk' && update.content.type === 'text') {
      report.reasoning(update.content.text)
    } else if (
      update.sessionUpdate === 'tool_call' ||
      update.sessionUpdate === 'tool_call_update'
    ) {
      // Who begins a step anew under a known id takes over nothing from the one before.
      if (update.sessionUpdate === 'tool_call') this.#steps.delete(update.toolCallId)
      this.#remember(update)
      const told = readAnnouncedCall(update)
      if (update.sessionUpdate === 'tool_call' && told?.server === TOOL_SERVER) {
        place.tools.announce(told.tool, told.input)
      }
      const isOver = update.status === 'completed' || update.status === 'failed'
      report.stepBegan(update.toolCallId)
      if (isOver) report.stepEnded(update.toolCallId)
    } else if (update.sessionUpdate === 'usage_update') {
      report.requested()
      if (this.#command.tellsRequests) report.used(update.used)
      else report.contextIs(update.used)
    } else if (update.sessionUpdate === 'notice' && update.severity === 'error') {
      this.#trouble = [update.title, update.description ?? ''].join('\n')
    }
  }

  #hear(text: string, messageId: string | null | undefined): void {
    const isReply = this.#command.namesMessages !== true || typeof messageId === 'string'
    this.#trouble = isReply ? undefined : text
    if (isReply) this.#task.report.text(text)
  }

  /** What is known of a step, from all that was said about it. */
  #remember(step: RequestPermissionRequest['toolCall']): WantedStep {
    const learnt = learnOf(this.#steps.get(step.toolCallId), step)
    this.#steps.set(step.toolCallId, learnt)
    return learnt
  }

  #permit({ toolCall, options }: RequestPermissionRequest): RequestPermissionResponse {
    const { turn, place } = this.#task
    const asker = { workspace: place.workspace, tools: offeredTools(turn) }
    const isAllowed = !this.#isCancelled && isPermitted(this.#remember(toolCall), asker)
    const optionId = choosePermission(options, isAllowed)
    if (optionId === undefined) return { outcome: { outcome: 'cancelled' } }
    return { outcome: { outcome: 'selected', optionId } }
  }

  async #explain(error: unknown): Promise<AgentEnd> {
    const { secrets } = this.#task.place
    if (error instanceof RequestError && !isNoAnswer(error)) {
      const words = [error.message, ...wordsIn(error.data)].join('\n')
      const failure = explainWords(words, secrets)
      const isAuth = error.code === AUTH_REQUIRED && failure.kind === 'overloaded'
      return { how: 'failed', failure: isAuth ? { ...failure, kind: 'auth' } : failure }
    }
    if (error instanceof MessageTooLargeError) {
      // The agent lives on, and nobody reads what it says.
      return { how: 'failed', failure: explainLongLine() }
    }
    if (!this.#connection.signal.aborted) {
      // The agent has not gone, and no clock need run out.
      return { how: 'failed', failure: explainOddAnswer(error, secrets) }
    }
    const hasSpoken = this.#hasSpoken
    const ended = await this.#process.ended
    return { how: 'failed', failure: explainSilence(ended, { secrets, hasSpoken }) }
  }
}

function startOf({ options }: ConversationTask, { model: way }: AgentCommand): AgentStart {
  const { model, timeouts } = options
  const timeoutMs = timeouts.totalMs + PROCESS_MS_MARGIN
  if (model === undefined || way === undefined) return { timeoutMs }
  if ('flag' in way) return { timeoutMs, args: [way.flag, model] }
  return { timeoutMs, variables: { [way.variable]: model } }
}

function endOf(stopReason: string): AgentEnd {
  if (stopReason === 'refusal') {
    return { how: 'failed', failure: { kind: 'refused', message: 'the model refused' } }
  }
  const isBound = stopReason === 'max_tokens' || stopReason === 'max_turn_requests'
  return { how: isBound ? 'length' : 'stop' }
}

/** A part that an answer must have. Throws where it is not there: the library checks no answers. */
function partOf<T extends object, K extends keyof T & string>(
  answer: T | null | undefined,
  name: K,
  method: string,
): NonNullable<T[K]> {
  const part = answer?.[name]
  if (part == null) throw new Error(`${method} without ${name}`)
  return part
}

/** Whether an answer had neither a result nor an error: the library then puts it into one. */
function isNoAnswer({ data }: RequestError): boolean {
  return typeof data === 'object' && data !== null && 'jsonrpc' in data
}

/** All texts in what an error carries. */
function wordsIn(data: unknown): readonly string[] {
  if (typeof data === 'string') return [data]
  if (typeof data === 'number') return []
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'number' ? [`${key}: ${value}`] : wordsIn(value),
  )
}

/** What an answer says about tokens; agents that do not say it leave it out. */
function readUsage(answer: object): Usage | undefined {
  const { usage } = answer as { readonly usage?: Readonly<Record<string, unknown>> | null }
  if (typeof usage !== 'object' || usage === null) return undefined
  const count = (name: string) => readTokens(usage[name])
  const [input, output] = [count('inputTokens'), count('outputTokens')]
  // What an agent says that was stopped before it had counted.
  if (input === 0 && output === 0) return undefined
  const cachedTokens = count('cachedReadTokens')
  const cacheWriteTokens = count('cachedWriteTokens')
  const cached = (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  // Most agents count what was cached apart from the rest, as their total shows.
  const isApart = (count('totalTokens') ?? 0) >= (input ?? 0) + cached + (output ?? 0)
  const inputTokens = input === null || !isApart ? input : input + cached
  return { inputTokens, cachedTokens, cacheWriteTokens, outputTokens: output }
}
