/** What a victim types, one line after the other, whether or not each works. */
export const steps = (...lines: readonly string[]): string => lines.join('; ')

export const EDIT = 'echo more >> a.txt'
export const COMMIT = steps(EDIT, 'git commit -qam more')
export const BRANCH = 'git checkout -q -b other'

export const MERGE = steps(BRANCH, COMMIT, 'git checkout -q main', 'git merge --no-ff -m m other')

export const CONFLICT = steps(
  ...[BRANCH, 'echo x > a.txt', 'git commit -qam x'],
  ...['git checkout -q main', 'echo y > a.txt', 'git commit -qam y', 'git merge other'],
)

const WORK_IN_COPY = steps(
  ...['git clone -q . ../copy', 'cd ../copy'],
  ...['echo p > p', 'git add p', 'git commit -qm p'],
)

/** Pushes into the repository, from another one. */
export const pushHere = (branch: string): string =>
  steps(WORK_IN_COPY, `git push -q origin HEAD:${branch}`)

export const ASK_FOR_PASSWORD = 'printf "protocol=https\\nhost=x\\n\\n" | git credential fill'

/** Types at a terminal: git asks for no pager and for nothing else where there is none. */
export const atTerminal = (line: string): string => `script -qec "${line}" /dev/null`
