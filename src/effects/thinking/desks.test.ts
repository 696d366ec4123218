import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openToolGround, type ToolGround } from '../../../test/tools/tool-ground.ts'
import type { AgentId, EffectId, Json } from '../../agents/values.ts'
import { openBlobFiles } from '../../journal/blob-files.ts'
import { openProcesses, type Processes } from '../process/processes.ts'
import { openUnconfined } from '../sandbox/unconfined.ts'
import { type Desks, openDesks } from './desks.ts'
import { Transcripts } from './transcript.ts'
import { useToolsHandler } from './use-tools-handler.ts'

/** As many as are held open where nobody needs more. */
const OPEN_MAX = 64
const BOUNDS = { timeoutMs: 30_000, outputBytesMax: 1_000 }

const PARTS = { furtherTools: [], secrets: [], adviceFor: () => '' }
const WORKSPACES = {
  checkpoint: async () => {
    throw new Error('git add: fatal: write error: No space left on device')
  },
  rewind: async () => {},
  noteRun: async () => {},
  findRun: async () => undefined,
}
const EFFECT = { id: 'coder-1:1.0' as EffectId, agent: 'coder-1' as AgentId, kind: 'use_tools' }

let ground: ToolGround
let processes: Processes
let desks: Desks
/** The stories whose sandboxes are open. */
let opened: string[]

beforeEach(async () => {
  ground = await openToolGround('write')
  processes = openProcesses(ground.scratch)
  opened = []
  const isolation = await openUnconfined(processes, { stateFolder: join(ground.scratch, 'desks') })
  const folderOf = (story: string) => join(ground.workspace, story)
  for (let at = 0; at < OPEN_MAX + 3; at += 1) mkdirSync(folderOf(`s${at}`))
  desks = openDesks({
    findFolder: ({ story }) => folderOf(story),
    async openSandbox(workspace, access) {
      const story = workspace.slice(ground.workspace.length + 1)
      const sandbox = await isolation.open({ workspace, access })
      opened.push(story)
      const close = async () => {
        opened = opened.filter((each) => each !== story)
        await sandbox.close()
      }
      return { level: sandbox.level, run: (command) => sandbox.run(command), close }
    },
    outputsOf: () => ground.context.outputs,
    readDiff: async () => '',
    runTests: async () => {
      throw new Error('not here')
    },
    workspaces: WORKSPACES,
  })
})

afterEach(async () => {
  await desks.close()
  await processes.close()
  await ground.close()
})

const stories = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `s${from + at}`)

async function take(story: string) {
  const desk = await desks.at({ run: 'r1', story }, 'write', EFFECT.id)
  if (desk === undefined) throw new Error(`no desk for ${story}`)
  return desk
}

const takeAll = (taken: readonly string[]) => Promise.all(taken.map(take))

/** Closing takes a moment. */
const untilOpen = (expected: readonly string[]) =>
  expect.poll(() => opened.toSorted()).toEqual(expected.toSorted())

test.each([OPEN_MAX, OPEN_MAX + 1, OPEN_MAX + 2])(
  'a command runs to its end while %i desks are taken',
  async (count) => {
    execFileSync('/usr/bin/mkfifo', [join(ground.workspace, 's0', 'pipe')])
    const pipe = await open(join(ground.workspace, 's0', 'pipe'), 'r+')
    const { sandbox } = await take('s0')
    const running = sandbox.run({ argv: ['head', '-n', '1', 'pipe'], ...BOUNDS })
    await takeAll(stories(1, count))
    await pipe.write('done\n')
    const { how, stdout } = await running
    await pipe.close()
    expect({ how, said: stdout.toString() }).toEqual({ how: 'exited', said: 'done\n' })
    expect(opened).toHaveLength(count)
    const next = await sandbox.run({ argv: ['echo', 'next'], ...BOUNDS })
    expect(next.stdout.toString()).toBe('next\n')
  },
)

test('desks that are left go, those that were left first before others', async () => {
  const [first, second, ...others] = await takeAll(stories(0, OPEN_MAX + 2))
  for (const desk of others) desk.leave()
  await untilOpen(['s0', 's1', ...stories(4, OPEN_MAX + 2)])
  second?.leave()
  first?.leave()
  await take(`s${OPEN_MAX + 2}`)
  await untilOpen(['s0', 's1', ...stories(5, OPEN_MAX + 3)])
})

test('a desk at which two work is in use until both have left', async () => {
  const [one, other] = await takeAll(['s0', 's0'])
  one?.leave()
  await takeAll(stories(1, OPEN_MAX + 1))
  await untilOpen(stories(0, OPEN_MAX + 1))
  other?.leave()
  await untilOpen(stories(1, OPEN_MAX + 1))
})

/** Carries out a reply with one call, in the workspace of a story. */
async function replying(name: string) {
  const transcripts = new Transcripts()
  const handler = useToolsHandler({ ...PARTS, desks, transcripts })
  const said = { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name, input: {} }] } as const
  const blobs = openBlobFiles(join(ground.scratch, 'blobs'))
  const transcript = await transcripts.add(blobs, null, { messages: [said] })
  const { sha256, bytes } = transcript.tail
  const reply = { task: 'coder/coding', transcript, reply: { sha256, bytes }, ids: ['c1'] }
  const { signal } = new AbortController()
  return (story: string) => {
    const workspace = { run: 'r1', story }
    const input = { ...reply, workspace, withheld: [], isLast: false, refused: [] }
    const effect = { ...EFFECT, input: input as unknown as Json }
    return handler.run(effect, { signal, blobs })
  }
}

test('a desk is left once the calls of a reply are answered', async () => {
  const carryOut = await replying('list_files')
  for (const story of stories(0, OPEN_MAX + 1)) {
    expect(await carryOut(story)).toMatchObject({ ok: true })
  }
  await untilOpen(stories(1, OPEN_MAX + 1))
})

test('a model is not told that our own git has no room for its tests', async () => {
  const carryOut = await replying('run_tests')
  const message = expect.stringContaining('No space left on device')
  const error = { code: 'workspace_not_restored', message, retry: 'later', service: 'machine' }
  expect(await carryOut('s0')).toEqual({ ok: false, error })
})
