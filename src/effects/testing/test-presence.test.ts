import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasTests } from './test-presence.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-presence-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function look(path: string, text: string): Promise<boolean> {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
  return hasTests(folder)
}

test.each([
  ['a.test.js', 'work()'],
  ['src/a.spec.tsx', 'work()'],
  ['test/a.mjs', 'work()'],
  ['packages/a/__tests__/a.ts', 'work()'],
  ['checks/sum.js', "import test from 'node:test'\ntest('adds', () => {})\n"],
  ['checks/sum.js', "describe.concurrent('sums', () => {})\n"],
  ['test_sum.py', 'import unittest\n'],
  ['sums.py', 'def test_adds():\n    pass\n'],
  ['sum_test.go', 'package sum\n'],
  ['src/lib.rs', '#[cfg(test)]\nmod tests {}\n'],
  ['src/lib.rs', 'mod a {\n    #[tokio::test]\n    async fn adds() {}\n}\n'],
  ['src/test/java/com/example/Sum.java', 'class Sum {}'],
  ['SumTest.php', '<?php\n'],
  ['Sum.Tests/SumTests.cs', 'class SumTests {}'],
  ['spec/sum_spec.rb', 'work\n'],
  ['t/sum.t', 'ok(1);\n'],
  ['CMakeLists.txt', 'enable_testing()\nadd_test(NAME sum COMMAND sum)\n'],
  ['test/long.js', '//'.repeat(200_000)],
])('%s with %j is one of tests', async (path, text) => {
  expect(await look(path, text)).toBe(true)
})

test.each([
  ['src/index.js', "export const test = /x/.test('x')\n"],
  ['package.json', '{ "scripts": { "test": "jest" } }'],
  ['jest.config.js', 'module.exports = {}\n'],
  ['vitest.config.ts', 'export default {}\n'],
  ['test/.gitkeep', ''],
  ['test/fixtures/sum.json', '{}'],
  ['tests/__init__.py', ''],
  ['a.test.js', '// later\n'],
  ['src/lib.rs', 'pub fn sum() {}\n'],
  ['src/latest.js', 'work()\n'],
  ['node_modules/a/a.test.js', "test('adds', () => {})\n"],
])('%s with %j is none', async (path, text) => {
  expect(await look(path, text)).toBe(false)
})
