import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findEmptyFiles } from './empty-files.ts'

const FILES = {
  'index.js': '',
  'math.js': 'export const add = (a, b) => a + b\n',
  'my dir/a b.test.mjs': '// later\n',
  'sub/deep/c.test.ts': '',
  'sub/check.txt': '#!/usr/bin/env node\n',
  'src/parser.ts': '',
  'plain.test.js': "import assert from 'node:assert'\nassert.ok(true)\n",
  // One of them may be the one that was run.
  'one/both.test.js': '',
  'other/both.test.js': 'work()\n',
  'one/none.test.js': '',
  'other/none.test.js': '/* nothing */',
  'long.test.js': ' '.repeat(300_000),
  'node_modules/x/d.test.js': '',
  '../outside.js': '',
}

let scratch: string
let workspace: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-empty-files-'))
  workspace = join(scratch, 'workspace')
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true })
    writeFileSync(join(workspace, name), text)
  }
  symlinkSync(workspace, join(scratch, 'link'))
  symlinkSync('../outside.js', join(workspace, 'leads-out.js'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

test.each([
  ['.', 'index.js', true],
  ['.', 'my dir/a b.test.mjs', true],
  ['.', 'WORKSPACE/index.js', true],
  ['sub', 'check.txt', true],
  // They do something.
  ['.', 'math.js', false],
  ['.', 'WORKSPACE/math.js', false],
  ['.', 'plain.test.js', false],
  ['.', 'long.test.js', false],
  // From a folder that the command goes to by itself.
  ['.', 'a b.test.mjs', true],
  ['.', 'deep/c.test.ts', true],
  ['.', 'none.test.js', true],
  ['.', 'both.test.js', false],
  ['.', 'eep/c.test.ts', false],
  ['.', 'parser.ts', false],
  ['.', 'check.txt', false],
  // Of nobody's tests.
  ['.', 'd.test.js', false],
  ['.', 'no-such.test.js', false],
  ['.', 'my dir', false],
  ['.', 'Node.js', false],
  ['.', '', false],
  ['.', '/users/:id', false],
  ['.', '../outside.js', false],
  ['.', 'leads-out.js', false],
  ['.', 'SCRATCH/outside.js', false],
  // Built and run somewhere, and gone.
  ['.', '/tmp/build/e.test.js', false],
])('in %s the name %j is one: %s', async (cwd, name, isOne) => {
  const whole = name.replace('WORKSPACE', workspace).replace('SCRATCH', scratch)
  const found = await findEmptyFiles(workspace, cwd, [whole, 'another test'])
  expect([...found]).toEqual(isOne ? [whole] : [])
})

test('a workspace may be named by a link', async () => {
  const path = join(workspace, 'index.js')
  expect(await findEmptyFiles(join(scratch, 'link'), '.', [path])).toEqual(new Set([path]))
})
