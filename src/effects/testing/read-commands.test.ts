import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readCommands } from './read-commands.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-read-commands-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What is known of one command in a workspace with these files. */
async function read(files: Record<string, string>, line: string, cwd?: string) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const argv = line.startsWith('sh -c ') ? ['sh', '-c', line.slice(6)] : line.split(' ')
  const command = cwd === undefined ? { argv } : { argv, cwd }
  const [known] = await readCommands(folder, [command])
  return known?.idle === true ? 'idle' : (known?.reports ?? 'unknown')
}

const scripts = (of: Record<string, string>) => ({
  'package.json': JSON.stringify({ scripts: of }),
})

describe('a configured command', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['node --test', {}, 'node --test', 'summary'],
    ['pytest', {}, 'python3 -m pytest -q', 'summary'],
    ['a runner in a shell', {}, 'sh -c cd web && npx vitest run', 'summary'],
    ['dots', {}, 'node --test --test-reporter=dot', 'dots'],
    ['a script with a runner', scripts({ test: 'vitest run' }), 'npm test', 'summary'],
    ['a script by its name', scripts({ unit: 'jest' }), 'pnpm unit', 'summary'],
    ['a script in a shell', scripts({ unit: 'jest' }), 'sh -c CI=1 yarn unit', 'summary'],
    [
      'a script of a script',
      scripts({ test: 'npm run -s unit', unit: 'c8 mocha' }),
      'npm t',
      'summary',
    ],
    ['what runs before a script', scripts({ test: 'true', pretest: 'ava' }), 'npm test', 'summary'],
    ['a target with a runner', { Makefile: 'test: a\na:\n\tpytest\n' }, 'make test', 'summary'],
    [
      'a target with a script',
      { ...scripts({ test: 'jest' }), Makefile: 'check:\n\t@npm test\n' },
      'make -s check',
      'summary',
    ],
    ['a task', { 'deno.json': '{"tasks":{"t":"deno test"}}' }, 'deno task t', 'summary'],
    [
      'a script of composer',
      { 'composer.json': '{"scripts":{"t":["pest"]}}' },
      'composer t',
      'summary',
    ],
    ['true', {}, 'true', 'idle'],
    ['nothing in a shell', {}, 'sh -c echo ok; exit 0', 'idle'],
    ['an empty script', scripts({ test: '' }), 'npm test', 'idle'],
    ['a script that is true', scripts({ test: 'true' }), 'npm test', 'idle'],
    ['a script that is :', scripts({ test: ':' }), 'yarn test', 'idle'],
    ['a script that exits', scripts({ test: 'exit 0' }), 'pnpm test', 'idle'],
    ['a script that prints', scripts({ test: 'echo "2 tests passed"' }), 'npm test', 'idle'],
    ['a script of one that is true', scripts({ test: 'npm run a', a: 'true' }), 'npm test', 'idle'],
    ['a script that need not be', scripts({}), 'npm run test --if-present', 'idle'],
    ['a target that prints', { Makefile: 'test:\n\t@echo ok\n' }, 'make test', 'idle'],
    ['a script of nobody we know', {}, './check.sh', 'unknown'],
    ['a shell with a file', { 'test.sh': 'true' }, 'sh test.sh', 'unknown'],
    ['a script with a program', scripts({ test: 'node test.js' }), 'npm test', 'unknown'],
    ['scripts of packages', scripts({ test: 'true' }), 'turbo test', 'unknown'],
    [
      'scripts that call each other',
      scripts({ test: 'npm run a', a: 'npm test' }),
      'npm test',
      'unknown',
    ],
    ['scripts that grow', scripts({ test: 'npm test && npm test' }), 'npm test', 'unknown'],
    ['what npm calls so itself', scripts({ ci: 'jest' }), 'npm ci', 'unknown'],
  ])('%s', async (_, files, line, expected) => {
    expect(await read(files, line)).toBe(expected)
  })

  test.each([
    ['its own folder', 'npm test', 'web'],
    ['a folder that is named', 'npm --prefix web test', undefined],
    ['a folder from a folder', 'pnpm -C=web test', '.'],
  ])('is read in %s', async (_, line, cwd) => {
    const files = { 'web/package.json': JSON.stringify({ scripts: { test: 'true' } }) }
    expect(await read(files, line, cwd)).toBe('idle')
  })

  test('is not followed out of the workspace', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'slipway-outside-'))
    writeFileSync(join(outside, 'package.json'), JSON.stringify({ scripts: { test: 'true' } }))
    symlinkSync(outside, join(folder, 'link'))
    expect(await read({}, 'npm test', 'link')).toBe('unknown')
    expect(await read({}, `npm --prefix ${outside} test`)).toBe('unknown')
    expect(await read({}, 'npm --prefix ../x test')).toBe('unknown')
    rmSync(outside, { recursive: true })
  })
})
