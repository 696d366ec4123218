/** The files of a repository, by their names. */
export type Files = Record<string, string>

/** A manifest whose tests are run by a script. */
export const npm = (test: string) =>
  JSON.stringify({ name: 'repo', version: '1.0.0', scripts: { test } })

/** A file with tests of a sum. */
export const nodeTest = (body: string) => `const { test } = require('node:test')
const assert = require('node:assert')
const { sum } = require('./sum.js')
${body}
`
export const SUM = 'exports.sum = (a, b) => a + b\n'
export const ADDS = "test('adds', () => assert.equal(sum(1, 2), 3))"
export const SUBTRACTS = "test('subtracts', () => assert.equal(sum(1, 2), -1))"

/** What is counted where some passed, failed and were skipped. */
export const counts = (passed: number, failed: number, skipped = 0) => ({
  executed: passed + failed,
  passed,
  failed,
  skipped,
})
