import { expect, test } from 'vitest'
import { isWithin, workingFolder } from './workspace-path.ts'

test.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a/b', '/a', false],
  ['/', '/a', true],
])('%s holds %s: %s', (folder, path, held) => {
  expect(isWithin(folder, path)).toBe(held)
})

test.each([
  [undefined, '/w'],
  ['.', '/w'],
  ['a/../b', '/w/b'],
  ['/w/a', '/w/a'],
  ['..', undefined],
  ['/', undefined],
  ['/w2', undefined],
  ['a/../../w2', undefined],
])('a command asks for %s and works in %s', (cwd, folder) => {
  expect(workingFolder('/w', cwd)).toBe(folder)
})
