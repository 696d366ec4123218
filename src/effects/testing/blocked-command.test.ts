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
  // A shell with an option, wherever it stands.
  [['sh', '-ce', 'node --test x & touch f']],
  [['bash', '-e', '-c', 'npm test']],
  [['bash', '--norc', '-c', 'npm test']],
  [['bash', '+x', '-c', 'npm test']],
  [['sh', '-e', 'test.sh']],
  [['sh']],
  [['busybox', 'sh', '-c', 'true']],
  [['npx', 'bash', '-e', '-c', 'npm test']],
  [['env', '-i', 'PATH=/bin', 'sh', '-e', 'x.sh']],
  [['timeout', '-k', '5', '60', 'bash', '-ce', 'x']],
  [['nice', '-n', '5', 'sh', '-ec', 'x']],
  [['nohup', 'sh', '-ec', 'x']],
  [['stdbuf', '-oL', 'sh', '-ec', 'x']],
  [['sudo', '-u', 'me', 'sh', '-e', 'x']],
  // What does not wait for what it starts, or starts nothing.
  [['xargs', 'sh', '-e', 'x']],
  [['xargs', 'npm', 'test']],
  [['setsid', 'npm', 'test']],
  [['setsid', '-f', 'sh', 'x.sh']],
  // Nobody knows what is started here.
  [['env', '-S', 'sh -c true']],
  [['env', '--split-string=sh -c true']],
  [['timeout', '--unknown', '5', 'npm', 'test']],
  // What succeeds always, behind whatever it hides.
  [['env', 'CI=1', 'true']],
  [['env', 'CI=1']],
  [['env', '-u', 'CI', 'true']],
  [['timeout', '5', 'true']],
  [['timeout', '-s', 'KILL', '5', '/bin/true']],
  [['timeout', '5', 'env', 'A=b', 'nice', 'echo', 'passed']],
  [['command', 'true']],
  [['time', '-p', 'true']],
  [['timeout', '5']],
  [['test', '1']],
  [['[', '1', ']']],
  [['npm', '--version']],
  [['node', '--help']],
  [['find', '.', '-exec', 'false', '+']],
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
  [['timeout', '60', 'node', '--test']],
  [['timeout', '-k5', '--signal=INT', '60', 'sh', 'test.sh']],
  [['env', '-u', 'CI', 'A=b', 'npm', 'test']],
  [['nice', '-n5', 'make', 'check']],
  [['stdbuf', '-o', 'L', 'pytest']],
  [['xvfb-run', '-a', 'npm', 'test']],
  [['test', '-f', 'dist/index.js']],
  [['pytest', '-k', 'sh', '-v']],
  [['npm', 'test', '--', '--version']],
])('%j is run', (argv) => {
  expect(whyBlocked(argv)).toBeUndefined()
})
