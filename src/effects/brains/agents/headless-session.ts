import type { HeadlessCommand } from './agent.ts'
import { explainLongLine, explainNoTools, explainSilence } from './agent-failure.ts'
import { LINE_BYTES_MAX } from './agent-process.ts'
import { writePrompt } from './agent-prompt.ts'
import type { AgentEnd, AgentProtocol, Conversation, ConversationTask } from './agent-turn.ts'
import { claudeDialect } from './claude-dialect.ts'
import { codexDialect } from './codex-dialect.ts'

/** Longer than any turn: the clocks of the turn decide. */
const PROCESS_MS_MARGIN = 60_000

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
  const { place, turn, options, report } = task
  const timeoutMs = options.timeouts.totalMs + PROCESS_MS_MARGIN
  const args = dialect.argumentsFor(task)
  const { input, output, ended } = place.start({ args, timeoutMs })
  input.end(writePrompt(turn))
  const read = async (): Promise<AgentEnd> => {
    let end: AgentEnd | undefined
    for await (const line of linesOf(output)) {
      if (line === 'too_long') return { how: 'failed', failure: explainLongLine() }
      report.update()
      end = dialect.read(line) ?? end
      // From here on, whoever connects may be a command that the model has run.
      if (end === undefined && report.hasWorked && !place.tools.isJoined) {
        return { how: 'failed', failure: explainNoTools() }
      }
    }
    return end ?? { how: 'failed', failure: explainSilence(await ended, place.secrets) }
  }
  const failed = (error: unknown): AgentEnd => ({
    how: 'failed',
    failure: { kind: 'network', message: String(error) },
  })
  // It understands nothing but its end, which closing its place brings.
  return { ended: read().catch(failed), cancel: () => false }
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
