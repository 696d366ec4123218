import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SEARCH_TOOLS } from '../../src/effects/tools/command-tools.ts'
import { answerCalls } from '../../src/effects/tools/tool-calls.ts'
import { writeFiles } from '../git/world.ts'
import { openToolGround, type ToolGround } from './tool-ground.ts'

let ground: ToolGround

beforeAll(async () => {
  ground = await openToolGround('read')
  writeFiles(ground.workspace, {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.gitignore': 'node_modules/\n/dist/*\n!/dist/keep.js\n*.log\n.env\nodd*\n',
    '.env': 'needle\n',
    '.github/ci.yml': 'needle\n',
    'debug.log': 'needle\n',
    'dist/keep.js': 'needle\n',
    'dist/out.js': 'needle\n',
    'dist/deep/out.js': 'needle\n',
    'lib/a.ts': 'needle\n',
    'node_modules/left/index.js': 'needle\n',
    'node_modules/left/lib/index.ts': 'needle\n',
    'odd [1]{a,b}* !/x.js': 'needle\n',
    'src/a.js': 'needle\n',
    'src/b.ts': 'needle\n',
    'src/deep/c.ts': 'needle\n',
    'src/deep/trace.log': 'needle\n',
  })
})

afterAll(() => ground.close())

async function call(name: string, input: object) {
  const [answer] = await answerCalls(SEARCH_TOOLS, [{ id: '1', name, input }], ground.context)
  return answer as NonNullable<typeof answer>
}

const SHOWN = ['.github/ci.yml', 'dist/keep.js', 'lib/a.ts', 'src/a.js', 'src/b.ts']
const ALL = [...SHOWN, 'src/deep/c.ts']

/** Without `.gitignore` itself, in which nothing is searched for. */
const CASES: readonly [string, readonly string[]][] = [
  ['*', ALL],
  ['**', ALL],
  ['**/*', ALL],
  ['./**/*', ALL],
  ['*.*', ALL],
  ['{**/*,*}', ALL],
  ['*.js', ['dist/keep.js', 'src/a.js']],
  ['**/*.js', ['dist/keep.js', 'src/a.js']],
  ['{src,dist}/**', ['dist/keep.js', 'src/a.js', 'src/b.ts', 'src/deep/c.ts']],
  ['{src/*.ts,dist/*.js}', ['dist/keep.js', 'src/b.ts']],
  ['src/**/*.ts', ['src/b.ts', 'src/deep/c.ts']],
  ['src/*.ts', ['src/b.ts']],
  ['./src/*.ts', ['src/b.ts']],
  ['/src/*.ts', ['src/b.ts']],
  ['lib/**', ['lib/a.ts']],
  ['!src/**', ['.github/ci.yml', 'dist/keep.js', 'lib/a.ts']],
  ['!./src/*.ts', ['.github/ci.yml', 'dist/keep.js', 'lib/a.ts', 'src/a.js', 'src/deep/c.ts']],
  ['.env', []],
  ['*.log', []],
  ['dist/*', ['dist/keep.js']],
  ['node_modules/**', []],
  ['odd*/**', []],
  ['../**', []],
]

describe('ignored files are left out', () => {
  test.each(CASES)('by find_files for %s', async (glob, paths) => {
    const { text, isError } = await call('find_files', { glob })
    const found = text
      .trim()
      .split('\n')
      .filter((line) => line !== './.gitignore')
    const none = paths.length === 0 && text === '[nothing found]'
    expect(isError).toBe(false)
    expect(none ? [] : found).toEqual(paths.map((path) => `./${path}`))
  })

  test.each(CASES)('by search_text for %s', async (glob, paths) => {
    const { text } = await call('search_text', { pattern: 'needle', glob })
    const lines = paths.map((path) => `./${path}:1:needle\n`).join('')
    expect(text).toBe(lines || '[nothing found]')
  })
})

test.each([
  ['node_modules', '*.ts', 'node_modules/left/lib/index.ts:1:needle\n'],
  ['src', '*.js', 'src/a.js:1:needle\n'],
  ['dist/out.js', undefined, 'dist/out.js:1:needle\n'],
  ['src', '*.log', '[nothing found]'],
])('what is named is searched: %s for %s', async (path, glob, text) => {
  const input = { pattern: 'needle', path, ...(glob !== undefined && { glob }) }
  expect((await call('search_text', input)).text).toBe(text)
})

test('a glob that fits more ignored files than can be left out is refused', async () => {
  const names = Array.from({ length: 5_001 }, (_, i) => `many/${i}.log`)
  writeFiles(ground.workspace, Object.fromEntries(names.map((name) => [name, ''])))
  writeFiles(ground.workspace, { 'many/a.c': '' })
  const text = expect.stringContaining('too many files fit many/*, ignored ones among them')
  expect(await call('find_files', { glob: 'many/*' })).toMatchObject({ isError: true, text })
  expect((await call('find_files', { glob: 'many/*.c' })).text).toBe('./many/a.c\n')
})

test('says what is wrong with a glob', async () => {
  const text = expect.stringContaining('unclosed alternate group')
  expect(await call('find_files', { glob: '{src,dist' })).toMatchObject({ isError: true, text })
})
