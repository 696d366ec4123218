import { expect, test } from 'vitest'
import type { Suite } from '../test/suites.ts'
import { selectSuites } from './select-suites.ts'

const plain: Suite = { name: 'plain', include: [] }
const terminal: Suite = { name: 'terminal', include: [], needs: { tmux: 'tmux', rg: 'ripgrep' } }

/** A machine with these commands, where `installable` packages can be had unless there is an obstacle. */
function machine(commands: string[], installable: Record<string, string>, obstacle?: string) {
  const asked: string[][] = []
  return {
    asked,
    isRoot: () => obstacle === undefined,
    isInstalled: (command: string) => commands.includes(command),
    hasNode: (major: number) => major <= 22,
    whyNotInstallable: () => obstacle,
    async install(names: readonly string[]) {
      asked.push([...names])
      commands.push(...names.flatMap((name) => installable[name] ?? []))
    },
  }
}

test('what is installed is not installed again', async () => {
  const system = machine(['tmux', 'rg'], {})
  expect(await selectSuites([plain, terminal], system)).toEqual({
    runnable: [plain, terminal],
    skips: [],
  })
  expect(system.asked).toEqual([])
})

test('what is missing is installed where that is possible', async () => {
  const system = machine(['tmux'], { ripgrep: 'rg' })
  expect(await selectSuites([plain, terminal], system)).toEqual({
    runnable: [plain, terminal],
    skips: [],
  })
  expect(system.asked).toEqual([['ripgrep']])
})

test('without the right to install, a suite is skipped by name with what to install', async () => {
  const system = machine([], { tmux: 'tmux' }, 'only root may install packages')
  expect(await selectSuites([plain, terminal], system)).toEqual({
    runnable: [plain],
    skips: ['terminal: only root may install packages; to run it: apt-get install tmux ripgrep'],
  })
  expect(system.asked).toEqual([])
})

test('an installation that failed skips only the suites that needed it', async () => {
  const { runnable, skips } = await selectSuites([plain, terminal], machine(['tmux'], {}))
  expect(runnable).toEqual([plain])
  expect(skips).toEqual(['terminal: the installation failed; to run it: apt-get install ripgrep'])
})

test('what needs root is skipped by name for anybody else', async () => {
  const disk: Suite = { name: 'disk', include: [], needsRoot: 'to mount a small disk' }
  const asUser = await selectSuites(
    [plain, disk],
    machine([], {}, 'only root may install packages'),
  )
  expect(asUser).toEqual({
    runnable: [plain],
    skips: ['disk: only root is allowed to mount a small disk'],
  })
  expect(await selectSuites([plain, disk], machine([], {}))).toEqual({
    runnable: [plain, disk],
    skips: [],
  })
})

test('what needs a Node that cannot be had is skipped by name', async () => {
  const on = (nodeMin: number): Suite => ({ name: `on-${nodeMin}`, include: [], nodeMin })
  const { runnable, skips } = await selectSuites([on(22), on(24)], machine([], {}))
  expect(runnable).toEqual([on(22)])
  expect(skips).toEqual(['on-24: needs Node 24, or Linux on x64'])
})
