import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openInside, PathGuardError, replaceInside } from '../../src/effects/guards/path-guard.ts'
import { snapshot } from '../canary/snapshot.ts'
import { judge, type Purpose, type Verdict } from './oracle.ts'
import { RUNS, SEED, TIMEOUT_MS } from './runs.ts'
import { makeTree, type Tree, trees } from './trees.ts'

const PURPOSES: readonly Purpose[] = ['read', 'list', 'write', 'replace']

test('a path is opened exactly when it stays inside', { timeout: TIMEOUT_MS }, async () => {
  const counts = { inside: 0, refused: 0 }
  const property = fc.asyncProperty(trees, fc.constantFrom(...PURPOSES), async (tree, purpose) => {
    for (const verdict of await walk(tree, purpose)) counts[verdict] += 1
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
  expect(Math.min(counts.inside, counts.refused)).toBeGreaterThan(RUNS)
  console.log(`${counts.inside} paths were opened and ${counts.refused} refused; seed ${SEED}`)
})

async function walk(tree: Tree, purpose: Purpose): Promise<readonly Verdict[]> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-tree-')))
  const ws = join(scratch, 'ws')
  try {
    const queries = makeTree(scratch, tree)
    const others = ['outside', 'ws-evil'].map((name) => join(scratch, name))
    const before = others.map(snapshot)
    const verdicts: Verdict[] = []
    for (const query of queries) {
      const expected = judge(ws, query, purpose)
      expect(await tryToOpen(ws, query, purpose), `${purpose} ${query}`).toBe(expected)
      verdicts.push(expected)
    }
    expect(others.map(snapshot)).toEqual(before)
    return verdicts
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof PathGuardError || 'code' in (error as Error)
}

/** Opens a path, and asks the kernel by another way where the file is. */
async function tryToOpen(ws: string, path: string, purpose: Purpose): Promise<Verdict> {
  if (purpose === 'replace') return tryToReplace(ws, path)
  const opened = await openInside(ws, path, purpose).catch((error) => {
    if (isRefusal(error)) return undefined
    throw error
  })
  if (opened === undefined) return 'refused'
  try {
    const real = realpathSync.native(`/proc/self/fd/${opened.fd}`)
    expect(real === ws || real.startsWith(`${ws}/`)).toBe(true)
    expect([real, undefined]).toContain(kernelsWay(path.startsWith('/') ? path : `${ws}/${path}`))
    return 'inside'
  } finally {
    await opened.close()
  }
}

async function tryToReplace(ws: string, path: string): Promise<Verdict> {
  try {
    await replaceInside(ws, path, 'replaced')
  } catch (error) {
    if (isRefusal(error)) return 'refused'
    throw error
  }
  const real = kernelsWay(path.startsWith('/') ? path : `${ws}/${path}`)
  if (real === undefined) return 'inside'
  expect(real.startsWith(`${ws}/`)).toBe(true)
  expect(readFileSync(real, 'utf8')).toBe('replaced')
  return 'inside'
}

/** Where the kernel is led; undefined where a dot or a slash after a file stops it, but not us. */
function kernelsWay(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}
