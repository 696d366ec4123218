import { z } from 'zod'
import { findInside } from '../guards/path-guard.ts'
import type { Ended } from '../process/command.ts'
import { withoutKeyLines } from './key-lines.ts'
import { shorten } from './output-files.ts'
import { explained } from './read-tools.ts'
import { findGlobs } from './search-globs.ts'
import { defineTool, refused, said, type ToolAnswer, type ToolContext } from './tool.ts'

const SEARCH_TIMEOUT_MS = 30_000
const SHELL_TIMEOUT_MS = 120_000
const SHELL_TIMEOUT_MS_MAX = 600_000
/** Kept of what a command prints. Each MB is looked through for secrets, which takes 0.1 s or more. */
const OUTPUT_BYTES_MAX = 4_000_000
/** Of one stream alone only the words are needed that say why a command could not be run. */
const STREAM_BYTES_MAX = 16_000

/** Some 300,000 files. */
const LIST_BYTES_MAX = 20_000_000

/** With it, `$` stands before the end of a line of Windows too, and no expression may name that. */
const EITHER_END = '--crlf'
const CARRIAGE_RETURN = /\r|\\r|\\[xu](?:0{0,6}d|\{0*d\})/i

const pattern = z.string().min(1).max(1_000)
const folder = z.string().min(1).max(4_096).default('.')

const findFiles = defineTool({
  name: 'find_files',
  description: 'Finds files by a glob such as "src/**/*.ts". Ignored files are left out.',
  schema: z.strictObject({ glob: pattern }),
  isReadOnly: true,
  run: ({ glob }, context) => search(context, ['--files', '--sort=path'], '.', glob),
})

const searchText = defineTool({
  name: 'search_text',
  description:
    'Searches the files of the workspace for a regular expression; shows paths and line numbers.',
  schema: z.strictObject({ pattern, path: folder, glob: pattern.optional() }),
  isReadOnly: true,
  run({ pattern: regexp, path, glob }, context) {
    const flags = ['--line-number', '--with-filename', '--no-heading', '--color=never']
    return explained(async () => {
      const place = await findInside(context.workspace, path)
      const what = ['--sort=path', '--max-columns=300', `--regexp=${regexp}`]
      const ends = CARRIAGE_RETURN.test(regexp) ? [] : [EITHER_END]
      return search(context, [...flags, ...ends, ...what], place, glob)
    })
  },
})

/** What ripgrep says about a place that is known to be inside the workspace. */
async function search(
  context: ToolContext,
  args: readonly string[],
  place: string,
  glob: string | undefined,
): Promise<ToolAnswer> {
  const list = (globs: readonly string[]) =>
    runRipgrep(context, ['--files', '--null', ...globsIn(globs)], place, LIST_BYTES_MAX)
  const found = glob === undefined ? { globs: [] } : await findGlobs(glob, place, list)
  if ('problem' in found) return refused(found.problem)
  if ('unlisted' in found) return refused(failureOf(found.unlisted))
  const ended = await runRipgrep(context, [...args, ...globsIn(found.globs)], place)
  if (ended.how === 'exited' && ended.exitCode === 1) return said('[nothing found]')
  // With 2 for a folder that may not be read, what was found elsewhere is told all the same.
  const hasFound = ended.exitCode === 0 || (ended.exitCode === 2 && ended.stdout.length > 0)
  if (ended.how === 'exited' && hasFound) {
    const shown = await withoutKeyLines(ended.output.toString(), context)
    // Ripgrep ends lines of its own like that, and a last one that has no end.
    const plain = args.includes(EITHER_END) ? shown.replaceAll('\r\n', '\n') : shown
    return said(await shorten(plain, context.outputs, ended.droppedBytes))
  }
  return refused(failureOf(ended))
}

const globsIn = (globs: readonly string[]) => globs.map((glob) => `--glob=${glob}`)

/** Ripgrep, inside the sandbox. */
function runRipgrep(
  { sandbox, signal }: ToolContext,
  args: readonly string[],
  place: string,
  listBytesMax?: number,
): Promise<Ended> {
  return sandbox.run({
    // The last glob that fits decides.
    argv: ['rg', '--no-config', '--no-follow', '--hidden', ...args, '--glob=!.git', '--', place],
    timeoutMs: SEARCH_TIMEOUT_MS,
    outputBytesMax: listBytesMax ?? OUTPUT_BYTES_MAX,
    streamBytesMax: listBytesMax ?? STREAM_BYTES_MAX,
    signal,
  })
}

const runShell = defineTool({
  name: 'shell',
  description:
    'Runs a command line with sh in the workspace. It has no network unless the user allowed hosts, and everything that it starts ends with it.',
  schema: z.strictObject({
    command: z.string().min(1).max(20_000),
    timeout_ms: z.int().min(1).max(SHELL_TIMEOUT_MS_MAX).default(SHELL_TIMEOUT_MS),
  }),
  isReadOnly: false,
  async run({ command, timeout_ms }, { sandbox, outputs, signal }) {
    const ended = await sandbox.run({
      argv: ['sh', '-c', command],
      isOwnWordEnough: true,
      timeoutMs: timeout_ms,
      outputBytesMax: OUTPUT_BYTES_MAX,
      streamBytesMax: STREAM_BYTES_MAX,
      signal,
    })
    const output = await shorten(ended.output.toString(), outputs, ended.droppedBytes)
    const end = ended.how === 'exited' ? `exit code ${ended.exitCode}` : failureOf(ended)
    const isError = ended.how !== 'exited' || ended.exitCode !== 0
    return {
      text: `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${end}]`,
      isError,
    }
  },
})

function failureOf({ how, stderr, durationMs }: Ended): string {
  if (how === 'timed_out') return `not done after ${Math.round(durationMs / 1_000)} s, and ended`
  if (how === 'aborted') return 'stopped'
  if (how === 'killed') return 'killed, as when memory is spent'
  return stderr.toString().slice(0, 2_000).trim() || how
}

export const SEARCH_TOOLS = [findFiles, searchText]
export const SHELL_TOOLS = [runShell]
