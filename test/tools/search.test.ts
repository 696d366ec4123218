import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notStarted } from '../../src/effects/process/command.ts'
import { SEARCH_TOOLS } from '../../src/effects/tools/command-tools.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'
import { answerCalls } from '../../src/effects/tools/tool-calls.ts'
import { writeFiles } from '../git/world.ts'
import { openToolGround, type ToolGround } from './tool-ground.ts'

let ground: ToolGround
let context: ToolContext

beforeAll(async () => {
  ground = await openToolGround('read')
  const { scratch, workspace } = ground
  context = ground.context
  writeFiles(workspace, {
    'src/a.ts': 'export const answer = 42\n',
    'src/b.js': 'const other = 42\n',
    'docs/a.md': 'The answer.\n',
    '--pre=sh': 'answer\n',
    '.git/config': 'answer = in git\n',
  })
  writeFiles(scratch, { 'outside.ts': 'answer outside\n' })
  symlinkSync('..', join(workspace, 'up'))
  symlinkSync('src', join(workspace, 'code'))
})

afterAll(() => ground.close())

async function call(name: string, input: unknown) {
  const [answer] = await answerCalls(SEARCH_TOOLS, [{ id: '1', name, input }], context)
  return answer as NonNullable<typeof answer>
}

describe('search_text', () => {
  test('finds lines, and neither what git keeps nor what a link leads to', async () => {
    const { text } = await call('search_text', { pattern: 'answer' })
    expect(text.trim().split('\n')).toEqual([
      './--pre=sh:1:answer',
      './docs/a.md:1:The answer.',
      './src/a.ts:1:export const answer = 42',
    ])
  })

  test('shows no line of a private key, and others that look like one', async () => {
    const content = 'QUJD'.repeat(16)
    writeFiles(ground.workspace, {
      'keys/id.pem': `-----BEGIN PRIVATE KEY-----\n${content}\n${content}\n-----END PRIVATE KEY-----\n`,
      'keys/data.txt': `${content}\n`,
    })
    const { text } = await call('search_text', { pattern: '^QUJD', path: 'keys' })
    expect(text.trim().split('\n')).toEqual([
      `keys/data.txt:1:${content}`,
      'keys/id.pem:2:[redacted]',
      'keys/id.pem:3:[redacted]',
    ])
  })

  describe('in lines that end as on Windows', () => {
    const content = 'QUJD'.repeat(16)
    const key = `-----BEGIN PRIVATE KEY-----\n${content}\n-----END PRIVATE KEY-----\n`

    beforeAll(() => {
      writeFiles(ground.workspace, {
        'ends/a.c': 'int answer;\r\nint other;\r\n',
        'ends/b.c': 'int answer;\nint answer;',
        'ends/c.c': `${'x'.repeat(400)} answer;\r\n`,
        'ends/key.pem': key.replaceAll('\n', '\r\n'),
      })
    })

    test.each([
      [
        'answer;$',
        ['a.c:1:int answer;', 'b.c:1:int answer;', 'b.c:2:int answer;', 'c.c:1:[Omitted'],
      ],
      ['^int .*r;$', ['a.c:1:int answer;', 'a.c:2:int other;', 'b.c:1:int answer;', 'b.c:2:']],
      ['^QUJD', ['key.pem:2:[redacted]']],
    ])('finds the end that %s names, and shows none', async (pattern, lines) => {
      const { text } = await call('search_text', { pattern, path: 'ends' })
      expect(text).not.toContain('\r')
      const found = text.trim().split('\n')
      expect(found).toEqual(lines.map((line) => expect.stringContaining(`ends/${line}`)))
    })

    test.each(['answer;\\r', 'answer;\\x0d$', 'answer;\\u{d}'])('finds %s', async (pattern) => {
      const { text } = await call('search_text', { pattern, path: 'ends' })
      expect(text.split('\n')[0]).toBe('ends/a.c:1:int answer;\r')
    })
  })

  test.each([
    ['src', 'src/a.ts:1:export const answer = 42'],
    ['src/a.ts', 'src/a.ts:1:export const answer = 42'],
    ['docs/../code', 'src/a.ts:1:export const answer = 42'],
  ])('searches in %s', async (path, line) => {
    const { text } = await call('search_text', { pattern: 'answer', path })
    expect(text.trim()).toContain(line)
  })

  test.each([
    ['..', /leads out/],
    ['src/../..', /leads out/],
    ['up', /leads out/],
    ['up/outside.ts', /leads out/],
    ['/etc/passwd', /not inside/],
    ['/', /not inside/],
    ['none', /no such file/],
  ])('refuses %s', async (path, reason) => {
    const { text, isError } = await call('search_text', { pattern: '.', path })
    expect(text).toMatch(reason)
    expect(isError).toBe(true)
  })

  test.each(['**', '.git/**', '.git/config', '*'])('leaves out .git for %s', async (glob) => {
    const { text } = await call('search_text', { pattern: 'answer', glob })
    expect(text).not.toContain('in git')
  })

  test('looks into .git where it is told to', async () => {
    const { text } = await call('search_text', { pattern: 'answer', path: '.git' })
    expect(text).toBe('.git/config:1:answer = in git\n')
  })

  test('takes no value for an option', async () => {
    const { isError, text } = await call('search_text', { pattern: '--files', path: '--pre=sh' })
    expect({ isError, text }).toEqual({ isError: false, text: '[nothing found]' })
  })

  test('says what is wrong with an expression', async () => {
    expect(await call('search_text', { pattern: '(' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('unclosed group'),
    })
  })
})

test.each(['**', '.git/**', '.git', '**/config', '*'])(
  'find_files leaves out .git for %s',
  async (glob) => {
    expect((await call('find_files', { glob })).text).not.toContain('.git')
  },
)

test('find_files finds by a glob', async () => {
  expect((await call('find_files', { glob: 'src/*.ts' })).text).toBe('./src/a.ts\n')
  expect((await call('find_files', { glob: '*.none' })).text).toBe('[nothing found]')
})

test('says why files could not be listed', async () => {
  const sandbox = { ...context.sandbox, run: async () => notStarted('rg: not found') }
  const calls = [{ id: '1', name: 'find_files', input: { glob: '*.ts' } }]
  const [answer] = await answerCalls(SEARCH_TOOLS, calls, { ...context, sandbox })
  expect(answer).toMatchObject({ isError: true, text: 'rg: not found' })
})

test('what was found is told also where a folder could not be read', async () => {
  const stdout = Buffer.from('src/a.ts\n')
  const stderr = Buffer.from('rg: ./locked: Permission denied\n')
  const output = Buffer.concat([stdout, stderr])
  const ended = {
    how: 'exited',
    exitCode: 2,
    stdout,
    stderr,
    output,
    droppedBytes: 0,
    durationMs: 1,
  } as const
  const sandbox = { ...context.sandbox, run: async () => ended }
  const calls = [{ id: '1', name: 'find_files', input: { glob: '*.ts' } }]
  const [answer] = await answerCalls(SEARCH_TOOLS, calls, { ...context, sandbox })
  expect(answer).toMatchObject({ isError: false, text: output.toString() })
})
