import { expect, test } from 'vitest'
import { whyBlocked } from './blocked-command.ts'

test.each([
  [['node', '--test', 'x', '&', 'touch', 'f']],
  [['sh', '-c', 'node --test x & touch f']],
  [['bash', '-lc', 'npm test || true']],
  [['env', 'CI=1', '/bin/bash', '-c', 'npm test; true']],
  [['timeout', '5', 'sh', '-ec', 'false | true']],
  [['npm', 'test', '||', 'true']],
  [['npm', 'test', '2>&1']],
  [['npm', 'test', '>log']],
  [['npm', 'test', '$(touch f)']],
  [['true']],
  [['/bin/true']],
  [['echo', 'all tests passed']],
  [['env']],
  [[' ']],
  [['node\0', '--test']],
])('%j is not run', (argv) => {
  expect(whyBlocked(argv)).toBeTypeOf('string')
})

test.each([
  [['node', '--test']],
  [['npm', 'run', 'test:unit', '--', '--grep', 'a & b']],
  [['sh', 'test.sh']],
  [['bash', 'scripts/check.sh', '-c', 'config.json']],
  [['env', 'CI=1', 'npm', 'test']],
  [['pytest', '-k', 'a or b', 'tests/test_x.py::test_y[<1>]']],
  [['cargo', 'test', '-p', 'x']],
  [['make', 'test']],
  [['python3', '-m', 'unittest', '-v']],
])('%j is run', (argv) => {
  expect(whyBlocked(argv)).toBeUndefined()
})
