import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findTestFiles } from './test-files.ts'

let scratch: string
let workspace: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-test-files-'))
  workspace = join(scratch, 'workspace')
  const files = ['index.js', 'my dir/a b.test.mjs', 'sub/deep/c.test.ts', 'sub/check.txt']
  for (const name of [...files, 'src/parser.ts', 'node_modules/x/d.test.js', '../outside.js']) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true })
    writeFileSync(join(workspace, name), '')
  }
  symlinkSync(workspace, join(scratch, 'link'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

test.each([
  ['.', 'index.js', true],
  ['.', 'my dir/a b.test.mjs', true],
  ['.', 'WORKSPACE/index.js', true],
  ['sub', 'check.txt', true],
  // From a folder that the command goes to by itself.
  ['.', 'a b.test.mjs', true],
  ['.', 'deep/c.test.ts', true],
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
  ['.', 'SCRATCH/outside.js', false],
  // Built and run somewhere, and gone.
  ['.', '/tmp/build/e.test.js', true],
])('in %s the name %j is one: %s', async (cwd, name, isOne) => {
  const whole = name.replace('WORKSPACE', workspace).replace('SCRATCH', scratch)
  const found = await findTestFiles(workspace, cwd, [whole, 'another test'])
  expect([...found]).toEqual(isOne ? [whole] : [])
})

test('a workspace may be named by a link', async () => {
  const path = join(workspace, 'index.js')
  expect(await findTestFiles(join(scratch, 'link'), '.', [path])).toEqual(new Set([path]))
})
