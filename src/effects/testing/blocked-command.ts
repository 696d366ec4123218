import { basename } from 'node:path'

/** A script in words hides which of its parts failed: `&`, `|` and `;` all lose an exit code. */
const SHELLS = ['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'fish', 'csh', 'tcsh', 'pwsh']
const SCRIPT_FLAG = /^-(?:-command|[a-z]*c)$/i

/** What only a shell understands. A program would take it for a name. */
const OPERATOR = /^(?:&&?|\|\|?|;|\d?>>?(?:&\d)?|<<?|`)$|^\d?>(?:&\d|\S)|\$\(/

/** Programs that succeed whatever the code does. */
const IDLE = new Set([
  ...['true', ':', 'echo', 'printf', 'sleep', 'exit', 'cd', 'pwd', 'ls', 'cat', 'touch', 'mkdir'],
  ...['yes', 'date', 'whoami', 'which', 'env'],
])

/** Why a command that a model names for a test is not run; undefined for one that is. */
export function whyBlocked(argv: readonly string[]): string | undefined {
  const [program = ''] = argv
  if (program.trim() === '') return 'it names no program'
  if (argv.some((part) => part.includes('\0'))) return 'it holds a NUL character'
  const shell = argv.findIndex(
    (part, i) => SHELLS.includes(basename(part)) && SCRIPT_FLAG.test(argv[i + 1] ?? ''),
  )
  if (shell >= 0) return 'a script in words is not run: name the program and its arguments'
  const operator = argv.find((part) => OPERATOR.test(part))
  if (operator !== undefined) return `no shell is there to understand ${JSON.stringify(operator)}`
  const isIdle = IDLE.has(basename(program)) && (basename(program) !== 'env' || argv.length === 1)
  return isIdle ? 'it succeeds whatever the code does' : undefined
}
