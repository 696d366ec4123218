import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  listInside,
  openInside,
  PathGuardError,
  replaceInside,
} from '../../src/effects/guards/path-guard.ts'
import { snapshot } from '../canary/snapshot.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'
import { type Swapper, startSwapping } from './swapper.ts'

const TRIES = 5 * RUNS
const OUTSIDE = 'outside'

let scratch: string
let ws: string
let outside: string
let swapper: Swapper | undefined

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-race-')))
  ws = join(scratch, 'ws')
  outside = join(scratch, 'outside')
  const places = { [join(ws, 'deep/place')]: 'inside', [join(outside, 'place')]: OUTSIDE }
  for (const [folder, text] of Object.entries(places)) {
    mkdirSync(join(folder, 'inner'), { recursive: true })
    writeFileSync(join(folder, 'file'), text)
    writeFileSync(join(folder, 'inner/file'), text)
    for (const listed of [folder, join(folder, 'inner')]) writeFileSync(join(listed, text), '')
  }
})

afterEach(async () => {
  await swapper?.stop()
  rmSync(scratch, { recursive: true })
})

interface Swap {
  /** What is swapped with a link. */
  readonly right: string
  /** Where the link leads, outside. */
  readonly target: string
  readonly path: string
}

const ON_THE_WAY: Swap = {
  right: 'deep/place',
  target: 'place',
  path: 'deep/place/inner/file',
}

const SWAPS: readonly (readonly [string, Swap])[] = [
  ['a folder on the way', ON_THE_WAY],
  ['the first folder', { right: 'deep', target: '.', path: 'deep/place/file' }],
  ['the file', { right: 'deep/place/file', target: 'place/file', path: 'deep/place/file' }],
]

async function start({ right, target }: Swap): Promise<void> {
  const wrong = join(ws, `${right}.link`)
  symlinkSync(join(outside, target), wrong)
  swapper = await startSwapping(join(ws, right), wrong)
}

const PURPOSES = ['read', 'write', 'replace', 'list'] as const
type Purpose = (typeof PURPOSES)[number]

describe.each(SWAPS)('while %s is swapped with a link', (_, swap) => {
  test.each(PURPOSES)('to %s never leads outside', { timeout: TIMEOUT_MS }, async (purpose) => {
    const before = snapshot(outside)
    await start(swap)
    const counts = { opened: 0, refused: 0, missed: 0 }
    for (let i = 0; i < TRIES; i += 1) counts[await tryOnce(swap.path, purpose)] += 1
    await swapper?.stop()
    expect(snapshot(outside)).toEqual(before)
    expect(counts.opened).toBeGreaterThan(0)
    console.log(`${JSON.stringify(counts)} during ${swapper?.count()} swaps`)
  })
})

async function tryOnce(path: string, purpose: Purpose): Promise<'opened' | 'refused' | 'missed'> {
  try {
    await use(path, purpose)
    return 'opened'
  } catch (error) {
    if (error instanceof PathGuardError) return 'refused'
    const { code = '' } = error as NodeJS.ErrnoException
    // In between there is nothing at the place, or a link that is gone when one looks at it.
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(code)) return 'missed'
    throw error
  }
}

async function use(path: string, purpose: Purpose): Promise<void> {
  if (purpose === 'replace') return replaceInside(ws, path, 'written')
  if (purpose === 'list') {
    const names = (await listInside(ws, dirname(path))).map(({ name }) => name)
    expect(names).not.toContain(OUTSIDE)
    return
  }
  const file = await openInside(ws, path, purpose)
  try {
    if (purpose === 'read') expect(await file.readFile('utf8')).not.toBe(OUTSIDE)
    else await file.write('written')
  } finally {
    await file.close()
  }
}

test('the race is live: who looks first and opens then is led outside', async () => {
  await start(ON_THE_WAY)
  const path = join(ws, ON_THE_WAY.path)
  for (let isFooled = false; !isFooled; ) {
    if (!(await realpath(path).catch(() => '')).startsWith(`${ws}/`)) continue
    const file = await open(path, 'r').catch(() => undefined)
    isFooled = (await file?.readFile('utf8')) === OUTSIDE
    await file?.close()
  }
})
