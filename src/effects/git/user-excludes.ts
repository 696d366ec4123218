import { constants } from 'node:fs'
import { mkdir, open, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Git } from './git.ts'
import type { Repositories } from './repositories.ts'
import { inScratch } from './scratch.ts'

/** A longer file of patterns is left out. */
const FILE_BYTES_MAX = 1024 * 1024

/**
 * Notes what the user ignores beside the .gitignore files: the repository's own `info/exclude`, and
 * the file that the user's own configuration of git names. What the repository's configuration says
 * is not read: it may have come with the repository, and could name any file.
 */
export async function noteUserExcludes(
  git: Git,
  repositories: Repositories,
  source: string,
): Promise<void> {
  const args = ['rev-parse', '--git-path', 'info/exclude']
  const { text: path } = await git.run(args, { workTree: source, accept: [0, 128] })
  const own = path === '' ? '' : await readPlain(resolve(source, path), constants.O_NOFOLLOW)
  // The last pattern that matches decides, and the repository's comes after the user's.
  const all = [await readGlobal(git, source), own].filter((part) => part !== '')
  const patterns = all.map((part) => `${part}\n`).join('')
  await replace(repositories, repositories.excludes, patterns)
  await spreadExcludes(repositories)
}

/** Has git leave out what was noted last, in our own repositories and in clones made from now on. */
export async function spreadExcludes(repositories: Repositories): Promise<void> {
  const { excludes, work, template } = repositories
  const patterns = await readPlain(excludes, constants.O_NOFOLLOW)
  for (const folder of [work, template]) {
    await mkdir(join(folder, 'info'), { recursive: true })
    await replace(repositories, join(folder, 'info', 'exclude'), patterns)
  }
}

/** Whole at every moment: runs may begin at once, and each notes the patterns. */
async function replace(repositories: Repositories, path: string, patterns: string): Promise<void> {
  await inScratch(repositories, async (folder) => {
    const draft = join(folder, 'draft')
    await writeFile(draft, patterns, { mode: 0o600, encoding: 'latin1' })
    await rename(draft, path)
  })
}

/** Of several files, git takes the setting of the last; without any, a file of its own choice. */
async function readGlobal(git: Git, source: string): Promise<string> {
  const home = process.env.HOME ?? homedir()
  const settings = process.env.XDG_CONFIG_HOME || join(home, '.config')
  const files = process.env.GIT_CONFIG_GLOBAL
    ? [process.env.GIT_CONFIG_GLOBAL]
    : [join(home, '.gitconfig'), join(settings, 'git', 'config')]
  for (const file of files) {
    if (!isAbsolute(file) || (await readPlain(file)) === '') continue
    const args = ['config', '--file', file, '--includes', '--type=path', '--get']
    const options = { workTree: source, env: { HOME: home }, accept: [0, 1, 128] }
    const { text, exitCode } = await git.run([...args, 'core.excludesFile'], options)
    if (exitCode === 0) return isAbsolute(text) ? readPlain(text) : ''
  }
  return readPlain(join(settings, 'git', 'ignore'))
}

/** What a plain file holds, a character for each byte; nothing for anything else. */
async function readPlain(path: string, flags = 0): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
    try {
      const stats = await file.stat()
      const isPlain = stats.isFile() && stats.size <= FILE_BYTES_MAX
      return isPlain ? await file.readFile('latin1') : ''
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
