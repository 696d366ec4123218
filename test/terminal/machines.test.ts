import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const COLUMNS = 80
const END = 'SCREEN-ENDS-HERE'

let folder: string
const tmux = (...args: string[]) =>
  execFileSync('tmux', ['-S', join(folder, 'tmux.sock'), '-f', '/dev/null', ...args]).toString()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-terminal-'))
})

afterEach(() => {
  tmux('kill-server')
  rmSync(folder, { recursive: true })
})

/** What a person sees after running a command in a real terminal of 80 columns. */
async function screenOf(command: string, environment = '') {
  const line = `env -u NO_COLOR ${environment} ${command}; echo ${END}; sleep infinity`
  tmux('new-session', '-d', '-x', String(COLUMNS), '-y', '200', 'sh', '-c', line)
  const capture = (...args: string[]) => tmux('capture-pane', '-p', ...args).split(END)[0] ?? ''
  await vi.waitUntil(() => tmux('capture-pane', '-p').includes(END), { timeout: 20_000 })
  return { text: capture(), colours: capture('-e'), unwrapped: capture('-J') }
}

const machines = (args: string) => `"${process.execPath}" dist/slipway.js machines ${args}`

test.each(['', 'coder@F', 'coordinator@2', '--audit'])(
  'slipway machines %s fits a terminal of 80 columns, in colour',
  async (args) => {
    const { text, colours, unwrapped } = await screenOf(machines(args))
    const lines = (screen: string) => screen.split('\n').map((line) => line.trimEnd())
    expect(lines(unwrapped)).toEqual(lines(text))
    expect(text).toContain(args.startsWith('c') ? args : 'coder@F')
    expect(colours).toContain('\x1b[1m')
  },
)

test('NO_COLOR is obeyed', async () => {
  const { colours } = await screenOf(machines('coder@F'), 'NO_COLOR=1')
  expect(colours).toContain('WHO MAY FOLLOW WHOM')
  expect(colours).not.toContain('\x1b')
})
