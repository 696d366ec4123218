import type { Ecosystem } from './ecosystem.ts'

const PATHS_CHARS_MAX = 2_000

/** Go: the module at the root, or the modules of a workspace. */
export const go: Ecosystem = async (files) => {
  if (await files.has('go.mod')) {
    return [{ argv: ['go', 'test', './...'], reason: 'there is a go.mod' }]
  }
  const text = await files.read('go.work')
  if (text === undefined) return []
  const modules = text
    .split('\n')
    .map((line) => /^(?:use )?(\.\/[\w./-]+)$/.exec(line.replace(/\/\/ .*$/, '').trim())?.[1])
    .filter((path) => path !== undefined && !path.split('/').includes('..'))
  if (modules.length === 0 || modules.join().length > PATHS_CHARS_MAX) {
    files.note('go.work', 'unknown', `it uses ${modules.length} modules below this folder`)
    return []
  }
  const patterns = modules.map((path) => `${path}/...`)
  return [{ argv: ['go', 'test', ...patterns], reason: 'go.work names its modules' }]
}
