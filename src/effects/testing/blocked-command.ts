import { basename } from 'node:path'

/** A script in words hides which of its parts failed: `&`, `|` and `;` all lose an exit code. */
const SHELLS = new Set([
  ...['sh', 'bash', 'rbash', 'dash', 'ash', 'zsh', 'ksh', 'ksh93', 'mksh', 'fish', 'csh', 'tcsh'],
  ...['yash', 'pwsh', 'powershell'],
])
const SCRIPT_FLAG = /^(?:-[a-z]*c[a-z]*|--command(?:=.*)?)$/i

/** What only a shell understands. A program would take it for a name. */
const OPERATOR = /^(?:&&?|\|\|?|;|\d?>>?(?:&\d)?|<<?|`)$|^\d?>(?:&\d|\S)|\$\(/

/** How a program is called that starts another one, waits for it and ends as that does. */
interface Wrapper {
  /** Options that stand alone. */
  readonly flags?: readonly string[]
  /** Options with a value, in the same word or in the next. */
  readonly valued?: readonly string[]
  /** How many words stand before the program. */
  readonly words?: number
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: { flags: ['-', '-i', '--ignore-environment'], valued: ['-u', '--unset', '-C', '--chdir'] },
  timeout: {
    flags: ['--foreground', '--preserve-status', '-v', '--verbose'],
    valued: ['-k', '--kill-after', '-s', '--signal'],
    words: 1,
  },
  nice: { valued: ['-n', '--adjustment'] },
  ionice: { flags: ['-t', '--ignore'], valued: ['-c', '--class', '-n', '--classdata'] },
  nohup: {},
  stdbuf: { valued: ['-i', '--input', '-o', '--output', '-e', '--error'] },
  unbuffer: {},
  time: { flags: ['-p', '-v'], valued: ['-f', '-o'] },
  command: { flags: ['-p'] },
  exec: {},
  sudo: { flags: ['-n', '-E', '-H'], valued: ['-u', '-g'] },
  doas: { flags: ['-n'], valued: ['-u'] },
  busybox: {},
  toybox: {},
  'xvfb-run': { flags: ['-a', '--auto-servernum'], valued: ['-n', '--server-num', '-s'] },
  'dbus-run-session': {},
}

/** Programs that start others, and say nothing about how those ended, or start none at all. */
const LOSING = new Set([
  ...['setsid', 'xargs', 'parallel', 'watch', 'script', 'su', 'at', 'batch', 'screen', 'tmux'],
  ...['start-stop-daemon', 'daemonize', 'systemd-run', 'eval', 'source', '.'],
])

/** Programs that succeed whatever the code does. */
const IDLE = new Set([
  ...['true', ':', 'echo', 'printf', 'sleep', 'exit', 'cd', 'pwd', 'ls', 'cat', 'touch', 'mkdir'],
  ...['yes', 'date', 'whoami', 'which', 'type', 'env', 'printenv', 'set', 'export', 'head', 'tail'],
  ...['find', 'uname', 'hostname', 'id', 'stat', 'file', 'wc', 'cp', 'mv', 'rm', 'chmod', 'tee'],
])
const INQUIRY = /^(?:--?version|--?help|-V|-h)$/

const WORDS = 'a script in words is not run: name the program and its arguments'
const NOTHING = 'it succeeds whatever the code does'

/** Why a command that a model names for a test is not run; undefined for one that is. */
export function whyBlocked(argv: readonly string[]): string | undefined {
  if ((argv[0] ?? '').trim() === '') return 'it names no program'
  if (argv.some((part) => part.includes('\0'))) return 'it holds a NUL character'
  const operator = argv.find((part) => OPERATOR.test(part))
  if (operator !== undefined) return `no shell is there to understand ${JSON.stringify(operator)}`
  if (argv.some((_, at) => startsScript(argv, at))) return WORDS
  const inner = unwrapped(argv)
  if (inner === undefined) {
    return `name the program itself: what ${basename(argv[0] ?? '')} starts here is not plain`
  }
  return whyProgramBlocked(inner)
}

function whyProgramBlocked([first = '', ...rest]: readonly string[]): string | undefined {
  const program = basename(first)
  // Without a script it reads one from nowhere, and is content.
  if (SHELLS.has(program) && !/^[^-+]/.test(rest[0] ?? '')) return WORDS
  if (LOSING.has(program)) return `${program} does not say how what it starts has ended`
  if (first === '' || IDLE.has(program)) return NOTHING
  if (rest.length > 0 && rest.every((word) => INQUIRY.test(word))) return NOTHING
  // With a single word to judge, any word is true.
  const isTruism = (program === 'test' && rest.length < 2) || (program === '[' && rest.length < 3)
  return isTruism ? NOTHING : undefined
}

/** Whether a shell at that place is given its script as words. */
function startsScript(argv: readonly string[], at: number): boolean {
  if (!SHELLS.has(basename(argv[at] ?? ''))) return false
  for (const option of argv.slice(at + 1)) {
    if (!/^[-+]/.test(option)) return false
    if (SCRIPT_FLAG.test(option)) return true
  }
  return false
}

/** What is started in the end; undefined where a wrapper has options that are not known here. */
function unwrapped(argv: readonly string[]): readonly string[] | undefined {
  const [first = '', ...words] = argv
  const name = basename(first)
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (wrapper === undefined) return argv
  while (words[0]?.startsWith('-')) {
    const option = words.shift() ?? ''
    if (option === '--') break
    if (wrapper.flags?.includes(option)) continue
    const valued = wrapper.valued?.find((known) => option.startsWith(known))
    if (valued === undefined) return undefined
    if (valued === option) words.shift()
  }
  words.splice(0, wrapper.words ?? 0)
  while (name === 'env' && /^[^=]+=/.test(words[0] ?? '')) words.shift()
  return unwrapped(words)
}
