import { lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Purpose as Opening } from '../../src/effects/guards/path-guard.ts'

/** What a path is for: to be opened, or to get another content. */
export type Purpose = Opening | 'replace'

/** What the guard is to say about a path, worked out slowly on a tree that nobody changes. */
export type Verdict = 'inside' | 'refused'

const LINKS_MAX = 20

/**
 * Follows a path by its names. It is refused when it leaves the folder at any moment, names what is
 * not there, or is of the wrong kind; and for writing also when it ends at a link or meets a .git.
 */
export function judge(root: string, path: string, purpose: Purpose): Verdict {
  const isWriting = purpose === 'write' || purpose === 'replace'
  const at: string[] = []
  const rest = split(root, path)
  if (rest === undefined) return 'refused'
  let links = 0
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === '..') {
      if (at.pop() === undefined) return 'refused'
      continue
    }
    if (isWriting && part === '.git') return 'refused'
    const stat = lstatSync(join(root, ...at, part), { throwIfNoEntry: false })
    const isLast = rest.length === 0
    if (stat === undefined) return isWriting && isLast ? 'inside' : 'refused'
    if (stat.isSymbolicLink()) {
      if (isWriting && isLast) return 'refused'
      links += 1
      const target = readlinkSync(join(root, ...at, part))
      const parts = split(root, target)
      if (links > LINKS_MAX || parts === undefined) return 'refused'
      if (target.startsWith('/')) at.length = 0
      rest.unshift(...parts)
    } else if (isLast) return stat.isDirectory() === (purpose === 'list') ? 'inside' : 'refused'
    else if (stat.isDirectory()) at.push(part)
    else return 'refused'
  }
  return purpose === 'list' ? 'inside' : 'refused'
}

function split(root: string, path: string): string[] | undefined {
  const isAbsolute = path.startsWith('/')
  if (isAbsolute && path !== root && !path.startsWith(`${root}/`)) return undefined
  const parts = (isAbsolute ? path.slice(root.length) : path).split('/')
  return parts.filter((part) => part !== '' && part !== '.')
}
