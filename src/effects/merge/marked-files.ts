import type { Git } from '../git/git.ts'

/** Files are read together, but not so many that they would fill the memory. */
const FILES_AT_ONCE = 100

/** Counts the conflicts that a merged tree has marked in some of its files. */
export async function countMarked(
  git: Git,
  repository: string,
  merged: { readonly tree: string; readonly target: string },
  paths: readonly string[],
): Promise<number> {
  if (paths.length === 0) return 0
  const { text } = await git.run(['ls-tree', '-r', '-z', merged.tree], { repository })
  const blobs = new Map(
    text.split('\0').flatMap((line) => {
      const [, blob, path] = /^\d{6} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
      return path === undefined || blob === undefined ? [] : [[path, blob]]
    }),
  )
  const wanted = paths.flatMap((path) => blobs.get(path) ?? [])
  // Git names the side in each marker, by the commit that it was given.
  const marker = `\n<<<<<<< ${merged.target}`
  let count = 0
  for (let i = 0; i < wanted.length; i += FILES_AT_ONCE) {
    const stdin = wanted.slice(i, i + FILES_AT_ONCE).join('\n')
    const { stdout } = await git.run(['cat-file', '--batch'], { repository, stdin })
    count += stdout.toString('latin1').split(marker).length - 1
  }
  return count
}
