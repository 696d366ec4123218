import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'

/** What is at one path of a random tree. */
type Planted =
  | { readonly kind: 'folder' | 'file' }
  | { readonly kind: 'link'; readonly target: string }

export interface Tree {
  readonly entries: readonly (readonly [path: string, planted: Planted])[]
  /** Paths to be opened, besides those of the entries. */
  readonly queries: readonly string[]
}

const NAMES = ['a', 'b', 'c', 'd', '.git', '-x', 'a b', '..a', 'ü']
/** WS and OUT are filled in with where the tree is. */
const PLACES = ['WS', 'WS/', 'WS-evil', 'WS/../outside', '/', 'OUT', 'OUT/file', '/proc/self/root']

const name = fc.constantFrom(...NAMES)
const step = fc.oneof({ weight: 5, arbitrary: name }, fc.constantFrom('..', '.', '', '...', 'file'))
const relative = fc.array(step, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'))
const path = fc.oneof(
  { weight: 6, arbitrary: relative },
  { weight: 1, arbitrary: relative.map((rest) => `WS/${rest}`) },
  { weight: 1, arbitrary: fc.constantFrom(...PLACES) },
  { weight: 1, arbitrary: relative.map((rest) => `../outside/${rest}`) },
  { weight: 1, arbitrary: relative.map((rest) => `../ws/${rest}`) },
)
const planted: fc.Arbitrary<Planted> = fc.oneof(
  fc.record({ kind: fc.constantFrom('folder' as const, 'file' as const) }),
  fc.record({ kind: fc.constant('link' as const), target: path }),
)
const place = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

export const trees: fc.Arbitrary<Tree> = fc.record({
  entries: fc.array(fc.tuple(place, planted), { minLength: 4, maxLength: 20 }),
  queries: fc.array(path, { minLength: 12, maxLength: 12 }),
})

/** Makes the tree in `ws`, beside a folder `outside` and a sibling with a longer name. */
export function makeTree(scratch: string, { entries, queries }: Tree): readonly string[] {
  const ws = join(scratch, 'ws')
  const outside = join(scratch, 'outside')
  for (const folder of [outside, join(scratch, 'ws-evil'), ws]) {
    mkdirSync(join(folder, 'a'), { recursive: true })
    writeFileSync(join(folder, 'file'), folder)
    writeFileSync(join(folder, 'a/file'), folder)
  }
  const fill = (text: string) => text.replaceAll('WS', ws).replaceAll('OUT', outside)
  for (const [at, what] of entries) {
    if (!isWithin(scratch, dirname(join(ws, at)))) continue
    try {
      mkdirSync(dirname(join(ws, at)), { recursive: true })
      if (what.kind === 'link') symlinkSync(fill(what.target) || '.', join(ws, at))
      else if (what.kind === 'folder') mkdirSync(join(ws, at))
      else writeFileSync(join(ws, at), 'inside', { flag: 'wx' })
    } catch {
      // Something else is there, or on the way: the tree is as good without it.
    }
  }
  const planted = entries.map(([at]) => at)
  return [...queries.map(fill), ...planted, ...planted.map((at) => `${at}/../${queries[0]}`)]
}

/** Whether a folder is there, or would be made there, and no link leads out on the way. */
function isWithin(scratch: string, folder: string): boolean {
  const there = existsSync(folder) ? realpathSync(folder) : undefined
  if (there === undefined) return isWithin(scratch, dirname(folder))
  return there === scratch || there.startsWith(`${scratch}/`)
}
