/**
 * A real process that makes workspaces, works in them like a model without a sandbox, and removes
 * them, to be killed at any moment. It says what is on the disk before it does the next thing.
 * `node worker.mjs <state folder> <base> <seed> <first story> <stories>`
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openGit } from '../../src/effects/git/git.ts'
import { openRepositories } from '../../src/effects/git/repositories.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { Random } from '../drill/random.ts'
import { hashOf } from './content.ts'

const [state = '', base = '', seed = '0', first = '0', stories = '0'] = process.argv.slice(2)
const random = new Random(Number(seed))
const say = (...words: string[]) => writeSync(1, `${words.join(' ')}\n`)

const processes = openProcesses(state)
const git = openGit(processes)
await processes.endOrphans()
const repositories = await openRepositories(git, state)
const workspaces = openWorkspaces(git, repositories, state)

/** What a model might do to its workspace; gives a commit of its own if it made one. */
function work(folder: string): string {
  const names = readdirSync(folder).filter((name) => name !== '.git' && name !== 'inner')
  for (const name of names.filter(() => random.chance(0.2))) {
    rmSync(join(folder, name), { recursive: true })
  }
  for (let i = random.below(4); i >= 0; i -= 1) {
    const content = Buffer.from(Array.from({ length: random.below(500) }, () => random.below(256)))
    const mode = random.chance(0.3) ? 0o755 : 0o644
    rmSync(join(folder, `f${i}`), { recursive: true, force: true })
    writeFileSync(join(folder, `f${i}`), content, { mode })
  }
  if (random.chance(0.2)) {
    mkdirSync(join(folder, `d${random.below(3)}`, 'deep'), { recursive: true })
    writeFileSync(join(folder, `new ${random.below(9)}`), 'untracked\r\n')
  }
  if (random.chance(0.1)) {
    rmSync(join(folder, 'link'), { force: true })
    symlinkSync('../../elsewhere', join(folder, 'link'))
  }
  const plain = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=m', '-c', 'user.email=m@m', ...args], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  if (random.chance(0.1)) {
    mkdirSync(join(folder, 'inner'), { recursive: true })
    plain(join(folder, 'inner'), 'init', '-q')
    writeFileSync(join(folder, 'inner', 'x'), String(random.next()))
    if (random.chance(0.5)) {
      plain(join(folder, 'inner'), 'add', '-A')
      plain(join(folder, 'inner'), 'commit', '-q', '--allow-empty', '-m', 'inner')
    }
    if (random.chance(0.5)) plain(join(folder, 'inner'), 'pack-refs', '--all')
  }
  if (!random.chance(0.15)) return '-'
  plain(folder, 'add', '-A', '--', ':!inner')
  plain(folder, 'commit', '-q', '--allow-empty', '-m', 'unpushed')
  return plain(folder, 'rev-parse', 'HEAD')
}

say('ready')
for (let n = Number(first); n < Number(first) + Number(stories); n += 1) {
  const story = `w${n}`
  const owner = { run: 'r1', story }
  const { folder } = await workspaces.prepare(owner, base)
  say('begun', story)
  for (let turn = random.below(3); turn >= 0; turn -= 1) {
    say('working', story)
    const commit = work(folder)
    say('edited', story, hashOf(folder), commit)
    await workspaces.checkpoint(owner)
    say('stored', story)
    if (random.chance(0.3)) await workspaces.commit(owner, `turn ${turn}`)
    if (random.chance(0.3)) {
      say('losing', story)
      rmSync(folder, { recursive: true })
      await workspaces.prepare(owner, base)
      say('found', story, hashOf(folder))
    }
  }
  say('removing', story)
  await workspaces.remove(owner)
  say('removed', story)
}
await processes.close()
