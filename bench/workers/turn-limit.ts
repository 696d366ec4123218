/**
 * `node turn-limit.mjs <url> <folder>`: a conversation by the library, the sandbox and the database
 * that the product uses, and nothing else: no agent, no ledger, no conversation on the disk, and
 * nothing checked. What it takes is what a durable, sandboxed turn takes at the least.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Prompt,
  LanguageModelV3ToolCall,
} from '@ai-sdk/provider'
import { compileBeforeFirstCall } from '../../src/cli/engine/baseline-code.ts'
import { loadModel } from '../../src/effects/brains/api-model.ts'
import { openProviderFetch } from '../../src/effects/brains/provider-fetch.ts'
import { TurnWatch } from '../../src/effects/brains/turn-watch.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import { PRAGMAS } from '../subjects/raw-sqlite.ts'

const TIMEOUTS = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 120_000 }
const OUTPUT_TOKENS_MAX = 4_096

const SHELL: LanguageModelV3FunctionTool = {
  type: 'function',
  name: 'shell',
  description: 'Runs a command line.',
  inputSchema: { type: 'object', properties: { command: { type: 'string' } } },
}

const [url = '', folder = ''] = process.argv.slice(2)

/** One turn of the model, to the call that it ends with. */
async function ask(prompt: LanguageModelV3Prompt): Promise<LanguageModelV3ToolCall> {
  const watch = new TurnWatch(TIMEOUTS, new AbortController().signal)
  const choice = { provider: 'anthropic', model: 'test-model', apiKey: 'none' } as const
  const fetch = openProviderFetch(watch, choice.provider)
  const model = await loadModel({ ...choice, baseUrl: `${url}/v1` }, fetch)
  const { stream } = await model.doStream({
    prompt,
    tools: [SHELL],
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    providerOptions: { anthropic: { toolStreaming: false } },
    abortSignal: watch.signal,
  })
  let call: LanguageModelV3ToolCall | undefined
  for await (const part of stream) {
    if (part.type === 'tool-call') call = part
    if (part.type === 'finish') break
  }
  watch.finish()
  if (call === undefined) throw new Error('the model called nothing')
  return call
}

compileBeforeFirstCall()
const workspace = join(folder, 'workspace')
mkdirSync(workspace)
const processes = openProcesses(folder)
const isolation = await openBubblewrap(processes, { stateFolder: join(folder, 'state') })
const sandbox = await isolation.open({ workspace, access: 'write' })
const database = await openDatabase(join(folder, 'turns.db'))
database.exec(`${PRAGMAS}; CREATE TABLE parts (text TEXT)`)
const add = database.prepare('INSERT INTO parts VALUES (?)')
const prompt: LanguageModelV3Prompt = [
  { role: 'user', content: [{ type: 'text', text: 'Run what you are asked to run.' }] },
]

for (;;) {
  const { toolCallId, toolName, input: text } = await ask(prompt)
  if (toolName !== SHELL.name) break
  add.run(text)
  const input = JSON.parse(text)
  const argv = ['sh', '-c', input.command] as const
  const limits = { timeoutMs: 60_000, outputBytesMax: 1_000_000 }
  const ended = await sandbox.run({ argv, ...limits, isOwnWordEnough: true })
  const value = ended.output.toString()
  add.run(value)
  const call = { toolCallId, toolName }
  prompt.push({ role: 'assistant', content: [{ type: 'tool-call', ...call, input }] })
  prompt.push({
    role: 'tool',
    content: [{ type: 'tool-result', ...call, output: { type: 'text', value } }],
  })
}

database.close()
await sandbox.close()
await processes.close()
process.stdout.write('null')
