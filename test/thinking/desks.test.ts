import { expect, test } from 'vitest'
import type { EffectId } from '../../src/agents/values.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openDesks } from '../../src/effects/thinking/desks.ts'
import { openOutputFiles } from '../../src/effects/tools/output-files.ts'
import { placeOf } from '../../src/effects/workspace/place.ts'
import { openGitWorld, writeFiles } from '../git/world.ts'

const OWNER = { run: 'r1', story: 's1' }
const EFFECT = 'coder-1:1.0' as EffectId

test('a workspace that is made anew has a sandbox around the new folder', async () => {
  const world = await openGitWorld({ 'a.txt': 'a\n' })
  const { workspaces, processes, state, base } = world
  const isolation = await openBubblewrap(processes, { stateFolder: state })
  const desks = openDesks({
    findFolder: (owner) => placeOf(state, owner).folder,
    openSandbox: (workspace, access) => isolation.open({ workspace, access }),
    outputsOf: () => openOutputFiles(state),
    readDiff: async () => '',
    runTests: async () => {
      throw new Error('not here')
    },
    workspaces,
  })
  const see = async () => {
    const desk = await desks.at(OWNER, 'write', EFFECT)
    const limits = { timeoutMs: 10_000, outputBytesMax: 1_000 }
    return (await desk?.sandbox.run({ argv: ['cat', 'x.txt'], ...limits }))?.stdout.toString()
  }
  try {
    const { folder } = await workspaces.prepare(OWNER, base)
    writeFiles(folder, { 'x.txt': 'first\n' })
    expect(await see()).toBe('first\n')
    const head = (await workspaces.commit(OWNER, 'work')) as string
    await workspaces.prepare(OWNER, base, head)
    expect(await see()).toBe('first\n')
    writeFiles(folder, { 'x.txt': 'second\n' })
    expect(await see()).toBe('second\n')
  } finally {
    await desks.close()
    await world.close()
  }
}, 60_000)
