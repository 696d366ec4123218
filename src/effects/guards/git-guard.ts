/** What a value is meant to be when it is handed to git. */
export type GitValue = 'branch' | 'commit' | 'path' | 'url'

/** A value that git could take for something else than it is meant to be. */
export class GitGuardError extends Error {
  override readonly name = 'GitGuardError'
}

const BRANCH_CHARS_MAX = 200
const PATH_BYTES_MAX = 4_096
const URL_CHARS_MAX = 2_048

/**
 * The door to git for every value that is not written in our source: gives it back, or throws when
 * it is not plainly what it is meant to be.
 */
export function guardGit(kind: GitValue, value: string): string {
  const problem = PROBLEMS[kind](value)
  if (problem === undefined) return value
  throw new GitGuardError(`${JSON.stringify(value.slice(0, 100))} is not a ${kind}: ${problem}`)
}

type Problem = string | undefined

const PROBLEMS: Readonly<Record<GitValue, (value: string) => Problem>> = {
  commit: (value) =>
    /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? undefined : 'it is not a whole object name',
  branch: branchProblem,
  path: pathProblem,
  url: urlProblem,
}

/** Stricter than git: also what is legal for git and surprising for a shell or a file system. */
function branchProblem(value: string): Problem {
  if (value.length === 0 || value.length > BRANCH_CHARS_MAX) return 'its length'
  if (!/^[A-Za-z0-9_./+@=,%#-]+$/.test(value)) return 'it has characters that are not allowed'
  if (value === 'HEAD' || value === '@') return 'the name is reserved'
  if (value.includes('..') || value.includes('@{') || value.includes('//')) return 'its form'
  for (const part of value.split('/')) {
    if (part === '' || part.startsWith('.') || part.startsWith('-')) return 'a part begins badly'
    if (part.endsWith('.') || part.endsWith('.lock')) return 'a part ends badly'
  }
  return undefined
}

/** A path as git prints them: relative, with slashes, inside the tree. */
function pathProblem(value: string): Problem {
  if (value.length === 0 || Buffer.byteLength(value) > PATH_BYTES_MAX) return 'its length'
  if (value.includes('\0')) return 'it has a NUL'
  if (value.startsWith('/') || value.startsWith('-')) return 'its first character'
  // Magic such as `:(exclude)`: paths are taken as they are.
  if (value.startsWith(':')) return 'its first character'
  for (const part of value.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'it is not in its plain form'
    if (isGitFolder(part)) return 'it leads into a .git folder'
  }
  return undefined
}

/** Whether some file system takes that name for `.git`. */
export function isGitFolder(name: string): boolean {
  // Characters that HFS+ ignores, and the streams, dots and spaces that NTFS ignores.
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  const stem = plain.split(':', 1)[0]?.replace(/[. ]+$/, '') ?? ''
  return /^(\.git|git~\d+)$/i.test(stem)
}

/** An absolute path, or https, http and ssh with a plain host; nothing that names a program. */
function urlProblem(value: string): Problem {
  if (value.length === 0 || value.length > URL_CHARS_MAX) return 'its length'
  if (!/^[\x21-\x7e]+$/.test(value) && !value.startsWith('/')) return 'its characters'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[\x00-\x1f\x7f]/.test(value)) return 'its characters'
  if (value.startsWith('/')) return value.split('/').includes('..') ? 'it goes upwards' : undefined
  const scp = /^(?:[A-Za-z0-9_][\w.-]*@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!\/\/)([^-:][^:]*)$/.exec(
    value,
  )
  if (scp !== null && !value.includes('::')) return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !['https:', 'http:', 'ssh:'].includes(url.protocol)) {
    return 'only https, http, ssh and absolute paths are used'
  }
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9.-]*)$/i.test(url.hostname)) return 'its host'
  if (url.username.startsWith('-') || url.password !== '') return 'it carries credentials'
  if (url.pathname.startsWith('/-')) return 'its path'
  return undefined
}
