import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readRepositoryInstructions } from './repository-instructions.ts'

let scratch: string
let workspace: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-instructions-'))
  workspace = join(scratch, 'workspace')
  mkdirSync(workspace)
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(workspace, path)), { recursive: true })
  writeFileSync(join(workspace, path), text)
}

const read = (secrets?: readonly string[]) => readRepositoryInstructions(workspace, secrets)

test('a repository without instructions asks for nothing', async () => {
  expect(await read()).toBe('')
  expect(await readRepositoryInstructions(join(scratch, 'nowhere'))).toBe('')
})

test('both files are read', async () => {
  write('AGENTS.md', 'Use tabs.\n')
  write('CLAUDE.md', '\nWrite tests.\r\nAlways.\n')
  expect(await read()).toBe('AGENTS.md:\nUse tabs.\n\nCLAUDE.md:\nWrite tests.\nAlways.')
})

test.each([
  ['the same text', () => write('CLAUDE.md', 'Use tabs.')],
  ['a link to the other', () => symlinkSync('AGENTS.md', join(workspace, 'CLAUDE.md'))],
  ['a mention of the other', () => write('CLAUDE.md', '@AGENTS.md\n')],
])('%s is shown once', async (_, make) => {
  write('AGENTS.md', 'Use tabs.\n')
  make()
  expect(await read()).toBe('AGENTS.md:\nUse tabs.')
})

test('a link that leads out is not followed', async () => {
  writeFileSync(join(scratch, 'outside.md'), 'outside')
  symlinkSync('../outside.md', join(workspace, 'AGENTS.md'))
  symlinkSync('/etc/hostname', join(workspace, 'CLAUDE.md'))
  symlinkSync('..', join(workspace, 'folder'))
  expect(await read()).toBe('')
})

test('what is not a file is not read', async () => {
  mkdirSync(join(workspace, 'AGENTS.md'))
  write('CLAUDE.md', 'Write tests.')
  expect(await read()).toBe('CLAUDE.md:\nWrite tests.')
})

test('what is too long is cut in its middle, or where nobody reads on', async () => {
  write('AGENTS.md', `first ${'x'.repeat(2_000_000)} last`)
  write('CLAUDE.md', `first ${'x'.repeat(20_000)} last`)
  const text = await read()
  expect(text.length).toBeLessThan(21_000)
  // Nobody reads so far, and what is shown as its end would be its middle.
  expect(text).toMatch(/AGENTS\.md:\nfirst x{9994}\n\[the rest is left out; read AGENTS\.md for/)
  expect(text).toMatch(
    /\[10011 characters left out here; read CLAUDE\.md for all of it\]\nx+ last$/,
  )
})

test('the end of what is shown as the end is that of the file', async () => {
  for (const bytes of [262_144, 262_145]) {
    write('AGENTS.md', `${'x'.repeat(bytes - 3)}END`)
    expect(await read()).toMatch(bytes === 262_144 ? /x+END$/ : /x\n\[the rest is left out;.*\]$/)
  }
})

test.each([4_999, 5_000])('no character is cut in two after %i others', async (count) => {
  write('AGENTS.md', `${'x'.repeat(count)}${'😀'.repeat(8_000)}${'y'.repeat(count)}`)
  expect((await read()).isWellFormed()).toBe(true)
})

test('secrets are taken out, also where the text is cut', async () => {
  const secret = 'correct-horse-battery'
  const key = `ghp_${'a1B2'.repeat(9)}`
  write('AGENTS.md', `${'x'.repeat(4_990)}${secret}${'y'.repeat(9_000)} ${key}`)
  const text = await read([secret])
  expect(text).not.toContain('correct')
  expect(text).not.toContain(key)
  expect(text).toContain('[redacted]')
})

test('characters that nobody sees are taken out', async () => {
  write('AGENTS.md', 'Use\u001b[31m tabs\u0000.\u202e\u200b\u{e0041}\n\tAlways.')
  expect(await read()).toBe('AGENTS.md:\nUse[31m tabs.\n\tAlways.')
})

test('files of folders are named, not read', async () => {
  write('AGENTS.md', 'Use tabs.')
  write('web/AGENTS.md', 'hidden')
  write('packages/a/CLAUDE.md', 'hidden')
  write('packages/a/AGENTS.md', 'hidden')
  write('node_modules/x/AGENTS.md', 'hidden')
  write('.cache/AGENTS.md', 'hidden')
  write('bad\nname/AGENTS.md', 'hidden')
  const text = await read()
  expect(text).toMatch(/^AGENTS\.md:\nUse tabs\.\n\nFurther/)
  expect(text).toMatch(/:\n- web\/AGENTS\.md\n- packages\/a\/AGENTS\.md$/)
  expect(text).not.toContain('hidden')
})

test('the list of them is bounded', async () => {
  for (let i = 0; i < 50; i += 1) write(`p${i}/AGENTS.md`, 'x')
  const text = await read()
  expect(text.match(/^- /gm)).toHaveLength(30)
  expect(text).toMatch(/\[there may be more\]$/)
})

test('folders without end are not walked to their end', async () => {
  write(`${'d/'.repeat(40)}AGENTS.md`, 'x')
  write('a/AGENTS.md', 'x')
  expect(await read()).toMatch(/- a\/AGENTS\.md\n\[there may be more\]$/)
})
