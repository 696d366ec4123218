import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openToolGround, type ToolGround } from '../../../test/tools/tool-ground.ts'
import { SHELL_TOOLS } from './command-tools.ts'
import { EDIT_TOOLS } from './edit-tools.ts'
import { READ_TOOLS } from './read-tools.ts'
import { DIFF_TOOLS } from './story-tools.ts'
import { TERMINAL_TOOLS } from './terminal-tools.ts'
import type { ToolContext } from './tool.ts'
import { answerCalls, definitionOf } from './tool-calls.ts'

const TOOLS = [...READ_TOOLS, ...EDIT_TOOLS, ...SHELL_TOOLS, ...Object.values(TERMINAL_TOOLS)]

let scratch: string
let workspace: string
let ground: ToolGround
let context: ToolContext

beforeEach(async () => {
  ground = await openToolGround('write')
  ;({ scratch, workspace, context } = ground)
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\nthree\n')
  writeFileSync(join(scratch, 'secret.txt'), 'outside')
})

afterEach(() => ground.close())

async function call(name: string, input: unknown) {
  const [answer] = await answerCalls(TOOLS, [{ id: '1', name, input }], context)
  return answer as NonNullable<typeof answer>
}

describe('read_file', () => {
  test('numbers lines, and says what is left', async () => {
    expect((await call('read_file', { path: 'a.txt', from: 2, lines: 1 })).text).toBe(
      '2\ttwo\n[1 more lines, from 3]',
    )
  })

  test.each([
    ['../secret.txt', /leads out/],
    ['/etc/passwd', /not inside/],
    ['nothing.txt', /no such file/],
    ['.', /folder/],
  ])('refuses %s', async (path, reason) => {
    const { text, isError } = await call('read_file', { path })
    expect(text).toMatch(reason)
    expect(isError).toBe(true)
  })

  test('does not follow a link that leads out', async () => {
    symlinkSync('../secret.txt', join(workspace, 'link'))
    expect((await call('read_file', { path: 'link' })).text).not.toContain('outside')
  })

  test('goes on within a line where it is told to', async () => {
    writeFileSync(join(workspace, 'wide.txt'), 'short\nabcdef\nlast\n')
    const rest = await call('read_file', { path: 'wide.txt', from: 2, column: 4 })
    expect(rest.text).toBe('2\tdef\n3\tlast')
    const beyond = await call('read_file', { path: 'wide.txt', from: 2, column: 7 })
    expect(beyond).toMatchObject({ isError: true, text: 'line 2 has 6 characters' })
  })

  test('begins with no half of a character', async () => {
    writeFileSync(join(workspace, 'wide.txt'), '😀😀\n')
    const { text } = await call('read_file', { path: 'wide.txt', column: 2 })
    expect(text).toBe('1\t\ufffd😀')
  })

  test.each([1, 2, 3])('shows no part of a private key, read from line %i on', async (from) => {
    const key = ['-----BEGIN PRIVATE KEY-----', ...Array(3).fill('QUJD'.repeat(16)), '-----END']
    const file = `${[...key].join('\n')} PRIVATE KEY-----\nlast\n`
    writeFileSync(join(workspace, 'id.pem'), file)
    const { text } = await call('read_file', { path: 'id.pem', from, lines: 4 })
    expect(text).not.toMatch(/QUJD|PRIVATE/)
    // Lines keep their numbers, for who edits around it.
    expect((await call('read_file', { path: 'id.pem', from: 6 })).text).toBe('6\tlast')
  })

  test('shows no rest of a secret that it is told to begin in', async () => {
    const token = `ghp_${'a1'.repeat(18)}`
    writeFileSync(join(workspace, 'token.txt'), `${token} end\n`)
    const { text } = await call('read_file', { path: 'token.txt', column: 8 })
    expect(text).not.toContain('a1a1')
  })
})

describe('list_files', () => {
  test('lists folders, links and files', async () => {
    mkdirSync(join(workspace, 'folder'))
    symlinkSync('a.txt', join(workspace, 'link'))
    expect((await call('list_files', {})).text).toBe('a.txt\nfolder/\nlink@')
    expect((await call('list_files', { path: 'folder' })).text).toBe('[empty]')
  })

  test('cuts a long list in its middle, and keeps all of it', async () => {
    const folder = join(workspace, 'many')
    mkdirSync(folder)
    const names = Array.from({ length: 1_100 }, (_, i) => `${i + 1_000}-${'n'.repeat(100)}`)
    for (const name of names) writeFileSync(join(folder, name), '')
    const { text } = await call('list_files', { path: 'many' })
    expect(text.length).toBeLessThan(17_000)
    expect(text.startsWith('1000-n') && /\n2099-n+$/.test(text)).toBe(true)
    const [, name = ''] = /path "(output:\w+)" has everything\]/.exec(text) ?? []
    expect(await context.outputs.read(name)).toBe(names.join('\n'))
  })
})

describe('an answer that is too long to be kept', () => {
  const diff = `begin\n${'x'.repeat(6_000_000)}\nend`

  test('says how much is kept nowhere, in the answer and where it is missing', async () => {
    const tools = { ...context, readDiff: async () => diff }
    const [answer] = await answerCalls(
      DIFF_TOOLS,
      [{ id: '1', name: 'get_diff', input: {} }],
      tools,
    )
    const [, name = '', dropped] =
      /path "(output:\w+)" has all but (\d+) bytes/.exec(answer?.text ?? '') ?? []
    const kept = (await context.outputs.read(name)) ?? ''
    expect(Number(dropped) + kept.length).toBe(
      diff.length + `\n[${dropped} bytes left out]\n`.length,
    )
    expect(kept).toContain(`x\n[${dropped} bytes left out]\nx`)
    expect(kept.length).toBeLessThan(4_200_000)
  })
})

describe('a line that is too long to be shown', () => {
  // A pair of surrogates stands where each of them may be cut.
  const line = Array.from({ length: 40_000 }, (_, i) => `${i % 10}\u{1f600}`).join('')

  test.each([
    ['printed', () => call('shell', { command: 'cat wide.txt' })],
    ['in a file', () => call('read_file', { path: 'wide.txt' })],
  ])('is read on piece by piece when it is %s', async (_, first) => {
    writeFileSync(join(workspace, 'wide.txt'), line)
    const name = /path "(output:\w+)"/.exec((await first()).text)?.[1]
    let whole = ''
    let next: object | undefined = {}
    for (let pieces = 0; next !== undefined; pieces += 1) {
      expect(pieces).toBeLessThan(20)
      const { text }: { text: string } = await call('read_file', { path: name, ...next })
      const [shown = '', more] = text.split('\n')
      expect(text.length).toBeLessThan(16_200)
      whole += shown.replace(/^1\t/, '')
      const [, from, column] = /from (\d+), column (\d+)/.exec(more ?? '') ?? []
      next = from === undefined ? undefined : { from: Number(from), column: Number(column) }
    }
    expect(whole.replace(/^1\t/, '')).toBe(line)
  })
})

describe('edit_file', () => {
  test('replaces what occurs once', async () => {
    await call('edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n2\nthree\n')
  })

  test.each([
    ['e', /occurs 3 times/],
    ['four', /does not occur/],
  ])('refuses %s, and changes nothing', async (old_text, reason) => {
    const answer = await call('edit_file', { path: 'a.txt', old_text, new_text: 'x' })
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(reason) })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
  })

  test('refuses a file that is not UTF-8, and names a way out', async () => {
    const bytes = Buffer.from('caf\u00e9\nabc\n', 'latin1')
    writeFileSync(join(workspace, 'latin1.txt'), bytes)
    const edit = { path: 'latin1.txt', old_text: 'abc', new_text: 'xyz' }
    const answer = await call('edit_file', edit)
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/UTF-8.*shell/) })
    expect(readFileSync(join(workspace, 'latin1.txt'))).toEqual(bytes)
  })

  test('keeps a byte order mark, and cuts no character in two', async () => {
    const path = join(workspace, 'mark.txt')
    writeFileSync(path, '\ufeffa\u{1f600}\u{1f600}')
    await call('edit_file', { path: 'mark.txt', old_text: 'a', new_text: 'b' })
    expect(readFileSync(path, 'utf8')).toBe('\ufeffb\u{1f600}\u{1f600}')
    const half = { path: 'mark.txt', old_text: '\ude00\ud83d', new_text: '-' }
    expect(await call('edit_file', half)).toMatchObject({ isError: true })
    const written = { path: 'mark.txt', text: 'a\ud83d' }
    expect(await call('write_file', written)).toMatchObject({ isError: true })
    expect(readFileSync(path, 'utf8')).toBe('\ufeffb\u{1f600}\u{1f600}')
  })

  test.each([
    ['x\ny', '1\n2\n3', 'w\r\n1\r\n2\r\n3\r\nz\r\n'],
    ['x\r\ny', '1\r\n2', 'w\r\n1\r\n2\r\nz\r\n'],
    ['w\nx\n', '', 'y\r\nz\r\n'],
    ['y', '1\n2', 'w\r\nx\r\n1\r\n2\r\nz\r\n'],
  ])('keeps the line endings of Windows where all lines have them: %j', async (...edit) => {
    const [old_text, new_text, after] = edit
    writeFileSync(join(workspace, 'a.cs'), 'w\r\nx\r\ny\r\nz\r\n')
    expect(await call('edit_file', { path: 'a.cs', old_text, new_text })).not.toHaveProperty(
      'isError',
      true,
    )
    expect(readFileSync(join(workspace, 'a.cs'), 'utf8')).toBe(after)
  })

  test('says that some lines end as those of Windows do, and changes nothing', async () => {
    writeFileSync(join(workspace, 'a.cs'), 'x\r\ny\nz\n')
    const answer = await call('edit_file', { path: 'a.cs', old_text: 'x\ny', new_text: '1' })
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('\\r\\n') })
    await call('edit_file', { path: 'a.cs', old_text: 'y\nz', new_text: '1\n2' })
    expect(readFileSync(join(workspace, 'a.cs'), 'utf8')).toBe('x\r\n1\n2\n')
  })

  test('leaves the old file whole until the new one is there, keeps its mode and nothing else', async () => {
    const path = join(workspace, 'a.txt')
    chmodSync(path, 0o750)
    const before = openSync(path, 'r')
    await call('edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' })
    const old = readFileSync(before, 'utf8')
    closeSync(before)
    expect(old).toBe('one\ntwo\nthree\n')
    expect(readFileSync(path, 'utf8')).toBe('one\n2\nthree\n')
    expect(statSync(path).mode & 0o777).toBe(0o750)
    expect(readdirSync(workspace)).toEqual(['a.txt'])
  })

  test('writes through no link, also one that stays inside', async () => {
    symlinkSync('a.txt', join(workspace, 'link'))
    const answer = await call('edit_file', { path: 'link', old_text: 'two', new_text: '2' })
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('is a link') })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
    expect(readdirSync(workspace).sort()).toEqual(['a.txt', 'link'])
  })
})

describe('write_file', () => {
  test.each(['x/../../y', 'x/../y', 'x/../new/y'])(
    'refuses %s in clear words, and makes nothing',
    async (path) => {
      const { text, isError } = await call('write_file', { path, text: 'x' })
      expect(isError).toBe(true)
      expect(text).toMatch(/goes up from a folder that is not there/)
      expect(readdirSync(workspace)).toEqual(['a.txt'])
    },
  )

  test.each([
    ['new//a.txt', 'new/a.txt'],
    ['./n2/./b.txt', 'n2/b.txt'],
    ['n3/n4//c.txt', 'n3/n4/c.txt'],
    ['W/n5//d.txt', 'n5/d.txt'],
  ])('takes %s for %s', async (path, place) => {
    const input = { path: path.replace('W', workspace), text: 'x' }
    expect(await call('write_file', input)).toMatchObject({ isError: false })
    expect(readFileSync(join(workspace, place), 'utf8')).toBe('x')
  })

  test.each(['new/.git/x', 'new/.GIT', `${'d/'.repeat(200)}x`, 'a.txt/new/x'])(
    'makes no folder for %s, which cannot be written',
    async (path) => {
      expect(await call('write_file', { path, text: 'x' })).toMatchObject({ isError: true })
      expect(readdirSync(workspace)).toEqual(['a.txt'])
    },
  )

  test('makes folders as needed, and only inside', async () => {
    await call('write_file', { path: 'x/y/z.txt', text: 'deep' })
    expect(readFileSync(join(workspace, 'x/y/z.txt'), 'utf8')).toBe('deep')
    symlinkSync('..', join(workspace, 'out'))
    const outside = await call('write_file', { path: 'out/new/evil.txt', text: 'x' })
    expect(outside.isError).toBe(true)
    expect(existsSync(join(scratch, 'new'))).toBe(false)
  })

  test('writes nothing into .git', async () => {
    expect((await call('write_file', { path: '.git/hooks/x', text: 'x' })).isError).toBe(true)
    expect(existsSync(join(workspace, '.git'))).toBe(false)
  })

  test.each(['.git/hooks/new/x', 'link/new/x'])('makes no folder for %s', async (path) => {
    mkdirSync(join(workspace, '.git/hooks'), { recursive: true })
    symlinkSync('.git/hooks', join(workspace, 'link'))
    expect((await call('write_file', { path, text: 'x' })).isError).toBe(true)
    expect(existsSync(join(workspace, '.git/hooks/new'))).toBe(false)
  })
})

describe('shell', () => {
  test('says what was printed and the exit code', async () => {
    expect(await call('shell', { command: 'echo hi; exit 3' })).toMatchObject({
      text: 'hi\n[exit code 3]',
      isError: true,
    })
  })

  test('keeps what is too long to be shown', async () => {
    const { text } = await call('shell', { command: 'seq 1 20000; echo end' })
    expect(text.length).toBeLessThan(17_000)
    expect(text).toContain('end\n[exit code 0]')
    const name = /path "(output:\w+)"/.exec(text)?.[1]
    const rest = await call('read_file', { path: name, from: 10_000, lines: 2 })
    expect(rest.text).toContain('10000\t10000\n10001\t10001')
  })

  test('keeps some megabytes whole', async () => {
    const { text } = await call('shell', { command: 'seq 1 300000' })
    expect(text).toContain('has everything]')
    const name = /path "(output:\w+)"/.exec(text)?.[1] ?? ''
    const all = Array.from({ length: 300_000 }, (_, i) => `${i + 1}\n`).join('')
    expect((await context.outputs.read(name)) === all).toBe(true)
  })

  test('says how much is kept nowhere, in the answer and where it is missing', async () => {
    const command = "echo begin; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end"
    const { text } = await call('shell', { command })
    // With what stood beside the cut, where half of a secret would not be known for one.
    const dropped = 1_000_011 + 2 * 8_192
    expect(text).toContain(`has all but ${dropped} bytes`)
    expect(text).not.toContain('has everything')
    const name = /path "(output:\w+)"/.exec(text)?.[1] ?? ''
    const kept = (await context.outputs.read(name)) ?? ''
    expect(kept).toContain(`\n[${dropped} bytes left out]\n`)
    expect(kept.startsWith('begin\nx') && kept.endsWith('x\nend\n')).toBe(true)
  })
})

describe('a terminal tool', () => {
  test('ends the state with what it was given, and does nothing', async () => {
    expect(await call('done', { summary: 'ready' })).toMatchObject({ ends: { summary: 'ready' } })
  })

  test('approves exactly when nothing has to be fixed', async () => {
    const both = { verdict: 'approved', must_fix: ['this'] }
    expect(await call('review_complete', both)).toMatchObject({ isError: true })
    const neither = { verdict: 'needs_changes', must_fix: [] }
    expect((await call('review_complete', neither)).ends).toBeUndefined()
  })
})

test('every tool has a definition that a provider takes', () => {
  for (const tool of TOOLS) {
    expect(definitionOf(tool)).toMatchObject({
      name: expect.stringMatching(/^[a-z_]{1,40}$/),
      input: { type: 'object', additionalProperties: false },
    })
  }
})

test('what is wrong with a call is said in few words, however long the call is', async () => {
  const input = { path: 'a.txt', ['extra'.repeat(100_000)]: 1 }
  const { text, isError } = await call('read_file', input)
  expect(isError && text.length < 1_000).toBe(true)
})

test('bad calls are answered and never carried out', { timeout: 60_000 }, async () => {
  const names = fc.oneof(fc.constantFrom(...TOOLS.map(({ name }) => name)), fc.string())
  const fields = [
    'path',
    'text',
    'old_text',
    'new_text',
    'command',
    'timeout_ms',
    'from',
    'column',
    'extra',
  ]
  const input = fc.oneof(
    fc.anything(),
    fc.dictionary(fc.constantFrom(...fields), fc.anything(), { maxKeys: 4 }),
    fc.record({ command: fc.constant('touch ran'), extra: fc.anything() }),
    fc.record({
      path: fc.constant('ran'),
      text: fc.anything().filter((x) => typeof x !== 'string'),
    }),
    fc.constant('{"command":"touch ran"}'),
  )
  const runs = Number(process.env.SLIPWAY_BAD_CALLS ?? 1_000)
  await fc.assert(
    fc.asyncProperty(names, input, async (name, given) => {
      const { text } = await call(name, given)
      expect(typeof text).toBe('string')
      expect(existsSync(join(workspace, 'ran'))).toBe(false)
    }),
    { numRuns: runs },
  )
})
