import type { StdioOptions } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'

const CLOSED_ON_EXEC = 0o2_000_000
const STANDARD_FILES = 3

type Stdio = Exclude<StdioOptions, string>

/**
 * Makes a child's list of files such that it has those and no other. Node closes its own in every
 * child, but not those above 15 that whoever started it left open: a log, or a credential.
 */
export function openStdioGuard(): (wanted: Stdio) => Stdio {
  const inherited = process.platform === 'linux' ? findInherited() : []
  const nothing = inherited.length > 0 ? openSync('/dev/null', 'r+') : undefined
  return (wanted) => {
    const files = [...wanted]
    for (const file of inherited.filter((number) => number >= wanted.length)) {
      // From 3 on, `ignore` leaves a file as it is.
      while (files.length < file) files.push('ignore')
      files[file] = nothing
    }
    return files
  }
}

function findInherited(): readonly number[] {
  const files = readdirSync('/proc/self/fd').map(Number)
  return files
    .filter((file) => file >= STANDARD_FILES && !isClosedOnExec(file))
    .sort((a, b) => a - b)
}

function isClosedOnExec(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1'))
    return (Number.parseInt(flags?.[1] ?? '0', 8) & CLOSED_ON_EXEC) !== 0
  } catch {
    // The one that listed the folder is closed by now.
    return true
  }
}
