import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EffectHandler } from '../../runtime/effect-handler.ts'
import type { BrainEvent } from '../brains/brain.ts'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { readRepositoryInstructions } from '../prompts/repository-instructions.ts'
import type { Isolation } from '../sandbox/sandbox.ts'
import { detectTestCommands } from '../testing/detect-test-commands.ts'
import { readCommands } from '../testing/read-commands.ts'
import { runTests } from '../testing/run-tests.ts'
import type { TestCommand } from '../testing/test-result.ts'
import { openOutputFiles } from '../tools/output-files.ts'
import type { Tool } from '../tools/tool.ts'
import { readDiff } from '../workspace/diff.ts'
import { type Owner, placeOf } from '../workspace/place.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { type Desks, openDesks } from './desks.ts'
import { type NamedBrain, thinkHandler } from './think-handler.ts'
import { Transcripts } from './transcript.ts'
import { useToolsHandler } from './use-tools-handler.ts'
import { adviceWords, COMPACTION_WORDS, noteWords, openingWords } from './words.ts'

/** What thinking needs of everything around it. */
export interface ThinkingSettings {
  readonly stateFolder: string
  readonly git: Git
  readonly repositories: Repositories
  readonly workspaces: Workspaces
  readonly isolation: Isolation
  /** By the names under which they are configured. */
  readonly brains: Readonly<Record<string, NamedBrain>>
  /** Hosts that commands may reach. */
  readonly hosts?: readonly string[]
  /** As configured; found by looking at the workspace when absent. */
  readonly testCommands?: readonly TestCommand[]
  /** For all test commands together, as for the gate. */
  readonly testTimeoutMs: number
  /** Whether exit code 0 is not enough, as for the gate. */
  readonly requireReport?: boolean
  /** Tools of the user's own servers. */
  readonly furtherTools?: readonly Tool[]
  /** Values that no model may see and nobody may store. */
  readonly secrets: readonly string[]
  /** How often a turn is tried before its agent is suspended. */
  readonly thinkAttemptsMax?: number
  /** Told what brains say as they say it, by the effect. */
  readonly onEvent?: (effect: string, event: BrainEvent) => void
}

/** The effects by which agents think. */
export interface ThinkingEffects {
  readonly handlers: { readonly think: EffectHandler; readonly use_tools: EffectHandler }
  readonly desks: Desks
  close(): Promise<void>
}

const ATTEMPTS_MAX = 5
const TESTS_OUTPUT_BYTES_MAX = 1_000_000

export function openThinking(settings: ThinkingSettings): ThinkingEffects {
  const { isolation, workspaces, secrets, stateFolder } = settings
  const { hosts = [], furtherTools = [], onEvent } = settings
  const transcripts = new Transcripts()
  const desks = setDesks(settings)
  const think = thinkHandler({
    brains: settings.brains,
    transcripts,
    furtherTools,
    async openingOf(task, variables, folder) {
      const instructions =
        folder === undefined ? '' : await readRepositoryInstructions(folder, secrets)
      return openingWords(task, variables, { level: isolation.level, hosts, instructions })
    },
    wordsOf: noteWords,
    compaction: COMPACTION_WORDS,
    findFolder: (owner) => folderOf(stateFolder, owner),
    checkpoint: (owner) =>
      workspaces.checkpoint(owner).then(
        () => {},
        () => {},
      ),
    secrets,
    attemptsMax: settings.thinkAttemptsMax ?? ATTEMPTS_MAX,
    ...(onEvent && { onEvent }),
  })
  const use_tools = useToolsHandler({
    desks,
    transcripts,
    furtherTools,
    adviceFor: adviceWords,
    secrets,
  })
  return { handlers: { think, use_tools }, desks, close: () => desks.close() }
}

/** The folder of a workspace that is there. Looked at directly, since every turn does it twice. */
function folderOf(stateFolder: string, owner: Owner): string | undefined {
  const { folder } = placeOf(stateFolder, owner)
  return existsSync(folder) ? folder : undefined
}

function setDesks(settings: ThinkingSettings): Desks {
  const { git, repositories, workspaces, isolation, stateFolder, secrets } = settings
  const hosts = settings.hosts ?? []
  return openDesks({
    findFolder: (owner) => folderOf(stateFolder, owner),
    openSandbox: (workspace, access) => isolation.open({ workspace, access, hosts }),
    outputsOf: (run) => openOutputFiles(join(stateFolder, 'outputs', run), secrets),
    async readDiff(owner: Owner, path) {
      const { commit, base } = await workspaces.checkpoint(owner)
      const range = { from: base, to: commit }
      const wanted = path === undefined ? range : { ...range, path }
      return readDiff(git, repositories, wanted, secrets)
    },
    async runTests(owner, sandbox, signal) {
      const { folder } = placeOf(stateFolder, owner)
      const commands = settings.testCommands
        ? await readCommands(folder, settings.testCommands)
        : (await detectTestCommands(folder)).commands
      const { testTimeoutMs: timeoutMs, requireReport = false } = settings
      const rules = { timeoutMs, requireReport, outputBytesMax: TESTS_OUTPUT_BYTES_MAX }
      const printed: string[] = []
      const saveOutput = async (output: string) => {
        printed.push(output)
        return null
      }
      const place = { sandbox, workspace: folder }
      const run = { ...place, commands, signal, secrets, saveOutput, ...rules }
      return { result: await runTests(run), printed }
    },
    workspaces,
  })
}
