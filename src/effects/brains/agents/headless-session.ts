import type { HeadlessCommand } from './agent.ts'
import { explainLongLine, explainNoTools, explainSilence } from './agent-failure.ts'
import { type AgentProcess, LINE_BYTES_MAX } from './agent-process.ts'
import { writePrompt } from './agent-prompt.ts'
import type { AgentEnd, AgentProtocol, Conversation, ConversationTask } from './agent-turn.ts'
import { claudeDialect } from './claude-dialect.ts'
import { codexDialect } from './codex-dialect.ts'

/** Longer than any turn: the clocks of the turn decide. */
const PROCESS_MS_MARGIN = 60_000

/** How long a process may live on that has said how it ended: some never exit by themselves. */
const LEAVING_MS_MAX = 5_000

/** The lines of one agent, and the arguments that make it print them. */
export interface Dialect {
  argumentsFor(task: ConversationTask): readonly string[]
  /** Takes one line in; says how the agent ended with the line that says so. */
  read(line: Readonly<Record<string, unknown>>): AgentEnd | undefined
}

/** Makes a dialect for one conversation. */
type MakeDialect = (task: ConversationTask) => Dialect

const DIALECTS: Readonly<Record<HeadlessCommand['dialect'], MakeDialect>> = {
  claude: claudeDialect,
  codex: codexDialect,
}

/** Gives a command a prompt, and reads the lines of JSON that it prints. */
export function speakHeadless(command: HeadlessCommand): AgentProtocol {
  return { command, begin: (task) => begin(task, DIALECTS[command.dialect](task)) }
}

function begin(task: ConversationTask, dialect: Dialect): Conversation {
  const { place, turn, options } = task
  const timeoutMs = options.timeouts.totalMs + PROCESS_MS_MARGIN
  const started = place.start({ args: dialect.argumentsFor(task), timeoutMs })
  started.input.end(writePrompt(turn))
  // It understands nothing but its end, which closing its place brings.
  return { ended: readEnd(task, dialect, started), cancel: () => false }
}

/** Takes in what an agent prints, up to its exit or a while after it has said how it ended. */
function readEnd(
  { place, report }: ConversationTask,
  dialect: Dialect,
  { output, ended }: AgentProcess,
): Promise<AgentEnd> {
  let end: AgentEnd | undefined
  let timer: NodeJS.Timeout | undefined
  let leave = () => {}
  const leaving = new Promise<void>((resolve) => {
    leave = resolve
  })
  const read = async (): Promise<AgentEnd> => {
    let hasSpoken = false
    for await (const line of linesOf(output)) {
      if (line === 'too_long') return end ?? { how: 'failed', failure: explainLongLine() }
      report.update()
      hasSpoken = true
      end = dialect.read(line) ?? end
      if (end !== undefined) {
        report.through()
        timer ??= setTimeout(leave, LEAVING_MS_MAX)
      } else if (report.hasWorked && !place.tools.isJoined) {
        // From here on, whoever connects may be a command that the model has run.
        return { how: 'failed', failure: explainNoTools() }
      }
    }
    if (end !== undefined) return end
    const { secrets } = place
    return { how: 'failed', failure: explainSilence(await ended, { secrets, hasSpoken }) }
  }
  const failed = (error: unknown): AgentEnd => ({
    how: 'failed',
    failure: { kind: 'network', message: String(error) },
  })
  const reading = read().catch(failed)
  // Who has not left by then is ended with its place, and reading with it.
  return Promise.race([reading, leaving.then(() => end ?? reading)]).finally(() =>
    clearTimeout(timer),
  )
}

/** The lines that are objects of JSON; what else a program prints is not for us. */
async function* linesOf(
  output: AsyncIterable<Uint8Array>,
): AsyncGenerator<Readonly<Record<string, unknown>> | 'too_long'> {
  const decoder = new TextDecoder()
  // Put together once: a line that comes in a thousand pieces would else be copied as often.
  let pieces: string[] = []
  let chars = 0
  for await (const chunk of output) {
    const [next = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    pieces.push(next)
    chars += next.length
    const rest = others.pop()
    if (rest !== undefined) {
      for (const line of [pieces.join(''), ...others]) {
        const value = parseLine(line)
        if (value !== undefined) yield value
      }
      pieces = [rest]
      chars = rest.length
    }
    if (chars > LINE_BYTES_MAX) {
      yield 'too_long'
      return
    }
  }
  const last = parseLine(pieces.join(''))
  if (last !== undefined) yield last
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
