import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** The files of the bundle that are loaded before it is known which command is wanted. */
function loadedFirst(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import)"(\.[^"]+)"/g)) {
    loadedFirst(join(dirname(file), path), known)
  }
  return known
}

test('no command waits for what measures text, unless it has some to print', () => {
  const files = [...loadedFirst('dist/slipway.js')]
  const measuring = files.filter((file) => readFileSync(file, 'utf8').includes('Intl.Segmenter'))
  expect(measuring).toEqual([])
})
