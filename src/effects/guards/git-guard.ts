import { redact } from './redaction.ts'

/** What a value is meant to be when it is handed to git. */
export type GitValue = 'branch' | 'commit' | 'path' | 'url'

/** A value that git could take for something else than it is meant to be. */
export class GitGuardError extends Error {
  override readonly name = 'GitGuardError'
}

const BRANCH_CHARS_MAX = 200
const PATH_BYTES_MAX = 4_096
const NAME_BYTES_MAX = 255
const URL_CHARS_MAX = 2_048

/**
 * The door to git for every value that is not written in our source: gives it back, or throws when
 * it is not plainly what it is meant to be.
 */
export function guardGit(kind: GitValue, value: string): string {
  const problem = PROBLEMS[kind](value)
  if (problem === undefined) return value
  const shown = JSON.stringify(redact(value).slice(0, 100))
  throw new GitGuardError(`${shown} is not a ${kind}: ${problem}`)
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
  // A branch of this name would be taken for the commit, or the commit for the branch.
  if (PROBLEMS.commit(value) === undefined) return 'it is the name of an object'
  if (value.includes('..') || value.includes('@{') || value.includes('//')) return 'its form'
  for (const part of value.split('/')) {
    if (part === '' || part.startsWith('.') || part.startsWith('-')) return 'a part begins badly'
    if (part.endsWith('.') || part.toLowerCase().endsWith('.lock')) return 'a part ends badly'
  }
  return undefined
}

/** A path as git prints them: relative, with slashes, inside the tree. */
function pathProblem(value: string): Problem {
  if (value.length === 0 || Buffer.byteLength(value) > PATH_BYTES_MAX) return 'its length'
  if (value.includes('\0')) return 'it has a NUL'
  // Half a surrogate pair reaches git as another character.
  if (/\p{Surrogate}/u.test(value)) return 'it is not well-formed'
  if (value.startsWith('/') || value.startsWith('-')) return 'its first character'
  // Magic such as `:(exclude)`: paths are taken as they are.
  if (value.startsWith(':')) return 'its first character'
  for (const part of value.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'it is not in its plain form'
    if (Buffer.byteLength(part) > NAME_BYTES_MAX) return 'the length of a part'
    if (isGitFolder(part)) return 'it leads into a .git folder'
  }
  return undefined
}

/** Whether some file system takes that name for `.git`, or for a way into it. */
export function isGitFolder(name: string): boolean {
  // Characters that HFS+ ignores, and the streams, dots and spaces that NTFS ignores.
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  return plain.split('\\').some((part) => /^(\.git|git~\d+)[. ]*(:.*)?$/is.test(part))
}

const HOST = /[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?/.source
const USER = /(?:[A-Za-z0-9_][\w.-]{0,63}@)?/.source
/** `host:path` as ssh has it. What a URL's scheme could be is no host. */
const SCP = new RegExp(`^${USER}(?!(?:https?|ssh|ftps?|file):)${HOST}:(?!-|//)[^:\\\\]+$`)
const URL_FORM = new RegExp(
  `^(?:https?|ssh)://${USER}(?:${HOST}|\\[[0-9A-Fa-f:.]{2,45}\\])(?::\\d{1,5})?(?:/[^\\\\]*)?$`,
)

/** An absolute path, or https, http and ssh with a plain host; nothing that names a program. */
function urlProblem(value: string): Problem {
  if (value.length === 0 || value.length > URL_CHARS_MAX) return 'its length'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[\x00-\x1f\x7f]|\p{Surrogate}/u.test(value)) return 'its characters'
  // Git takes what follows for the host, wherever it stands: also in a path, and in a folder's name.
  if (value.includes('@[')) return 'it has a second host in it'
  if (value.startsWith('/')) return value.split('/').includes('..') ? 'it goes upwards' : undefined
  if (!/^[\x21-\x7e]+$/.test(value)) return 'its characters'
  // Read as git reads it: what another parser would tidy up first is refused.
  if (redact(value) !== value) return 'it carries credentials'
  if (/%(?:[01][0-9a-f]|7f)/i.test(value)) return 'its characters'
  if (SCP.test(value) || URL_FORM.test(value)) return undefined
  return 'only plain https, http, ssh and absolute paths are used'
}
