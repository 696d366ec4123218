import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFiles } from '../git/world.ts'
import { calmGit } from './calm-git.ts'
import { HOME_VECTORS } from './home-vectors.ts'
import type { HostileWorld } from './hostile-world.ts'
import { inRepository, plant } from './planting.ts'

type Tampering = (folder: string, world: HostileWorld, name: string) => void

const ATTRIBUTES =
  '* filter=evil merge=evil diff=evil ident eol=crlf working-tree-encoding=UTF-16\n'

/** Plants in the .git folder of a work tree, or in another one that is to serve as such. */
function plantIn(
  tree: string,
  { vectors, marks, scratch }: HostileWorld,
  name: string,
  folder = join(tree, '.git'),
): void {
  const ground = inRepository(name, tree, join(scratch, 'grounds'))
  plant(vectors, { ...ground, folder, config: join(folder, 'config') }, marks)
}

/** A repository inside another one; whoever asks for its state has to look at its files. */
function makeInner(folder: string, world: HostileWorld, name: string): void {
  writeFiles(folder, { 'x.txt': 'one\n' })
  calmGit(folder, 'init', '-q')
  calmGit(folder, 'add', '-A')
  calmGit(folder, 'commit', '-q', '-m', 'inner')
  plantIn(folder, world, name)
  writeFiles(folder, { 'x.txt': 'two\n', 'new.txt': 'new\n', '.gitattributes': ATTRIBUTES })
}

/** What a model without a sandbox may do to its workspace. */
export const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  planted(folder, world, name) {
    plantIn(folder, world, name)
    const shadowing = HOME_VECTORS.filter(({ name: vector }) => vector.startsWith('PATH'))
    plant(shadowing, inRepository(name, folder, join(world.scratch, 'grounds')), world.marks)
    writeFiles(folder, { '.gitattributes': ATTRIBUTES })
  },

  'git-is-a-file'(folder, world, name) {
    plantIn(folder, world, name)
    renameSync(join(folder, '.git'), join(folder, 'elsewhere'))
    writeFileSync(join(folder, '.git'), 'gitdir: elsewhere\n')
  },

  'git-is-a-link'(folder, world, name) {
    plantIn(folder, world, name)
    renameSync(join(folder, '.git'), join(folder, 'moved'))
    symlinkSync('moved', join(folder, '.git'))
  },

  'git-leads-outside'(folder, { outside }) {
    rmSync(join(folder, '.git'), { recursive: true })
    symlinkSync(outside, join(folder, '.git'))
  },

  'git-is-gone'(folder) {
    rmSync(join(folder, '.git'), { recursive: true })
  },

  'git-has-links-and-pipes'(folder, { outside }) {
    for (const name of ['objects', 'hooks', 'info']) {
      rmSync(join(folder, '.git', name), { recursive: true, force: true })
      symlinkSync(outside, join(folder, '.git', name))
    }
    execFileSync('/usr/bin/mkfifo', [join(folder, '.git', 'pipe'), join(folder, 'pipe')])
  },

  'git-has-another-common-folder'(folder, world, name) {
    plantIn(folder, world, name)
    cpSync(join(folder, '.git'), join(folder, 'common'), { recursive: true })
    writeFileSync(join(folder, '.git/commondir'), '../common\n')
  },

  'repositories-inside'(folder, world, name) {
    makeInner(join(folder, 'inner'), world, name)
    makeInner(join(folder, 'deep/er'), world, name)
    makeInner(join(folder, 'deep/er/est'), world, name)
    writeFiles(folder, {
      'empty/x.txt': 'x',
      'file/x.txt': 'x',
      'file/.git': 'gitdir: ../inner/.git\n',
    })
    calmGit(join(folder, 'empty'), 'init', '-q')
    plantIn(join(folder, 'empty'), world, name)
    calmGit(folder, 'init', '-q', '--bare', 'bare.git')
    plantIn(folder, world, name, join(folder, 'bare.git'))
  },

  'submodule-is-filled'(folder, world, name) {
    makeInner(join(folder, 'sub'), world, name)
  },

  'submodule-leads-outside'(folder, { outside }) {
    rmSync(join(folder, 'sub'), { recursive: true, force: true })
    symlinkSync(outside, join(folder, 'sub'))
  },

  'names-that-look-like-git'(folder, world, name) {
    for (const lookalike of ['.GIT', 'src/.Git']) {
      mkdirSync(join(folder, lookalike), { recursive: true })
      plantIn(folder, world, name, join(folder, lookalike))
    }
    writeFiles(folder, { 'a/.gIT': 'x', 'git~1/x': 'x', '.g\u200cit/x': 'x', 'src/.git ': 'x' })
  },

  modules(folder, world) {
    const program = world.marks.program('modules', 'workspace')
    const lines = [
      ...['[submodule "../../x"]', 'path = -x', 'url = -u./x', `update = !${program}`],
      ...['[core]', `fsmonitor = ${program}`],
    ]
    writeFiles(folder, { '.gitmodules': lines.map((line) => `${line}\n`).join('') })
  },
}
