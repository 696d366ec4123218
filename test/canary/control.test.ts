import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOME_VECTORS } from './home-vectors.ts'
import { type Marks, openMarks } from './marks.ts'
import { inHome, inRepository, plant } from './planting.ts'
import { REPOSITORY_VECTORS } from './repository-vectors.ts'
import type { Vector } from './vector.ts'
import { makeVictim } from './victim.ts'

const VECTORS = [...REPOSITORY_VECTORS, ...HOME_VECTORS]
const LIVE = VECTORS.filter(({ control }) => control !== undefined)

let scratch: string
let pattern: string

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-control-'))
  pattern = mkdtempSync(join(scratch, 'pattern-'))
  makeVictim(pattern)
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Plants one vector alone, and lets the victim type. */
async function fallFor(vector: Vector): Promise<readonly string[]> {
  const place = mkdtempSync(join(scratch, 'place-'))
  cpSync(pattern, place, { recursive: true })
  const marks: Marks = openMarks(place)
  const [user, home] = [join(place, 'user'), join(place, 'home')]
  const ground =
    vector.where === 'repository' ? inRepository('user', user, place) : inHome(home, user, place)
  const planted = plant([vector], ground, marks)
  const env = { PATH: process.env.PATH ?? '', ...AUTHOR, HOME: home, TERM: 'xterm', ...planted }
  const folder = join(place, `${vector.name}@${ground.name}`)
  const options = { cwd: user, env: { ...env, FOLDER: folder }, timeout: 20_000 }
  await new Promise((resolve) => {
    // Whether it works out for the victim does not matter.
    const child = execFile('/bin/sh', ['-c', vector.control ?? ''], options, resolve)
    child.stdin?.end()
  })
  return marks.read()
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'A User',
  GIT_AUTHOR_EMAIL: 'user@example.org',
  GIT_COMMITTER_NAME: 'A User',
  GIT_COMMITTER_EMAIL: 'user@example.org',
}

describe('plain git falls for', () => {
  test.concurrent.each(LIVE.map((vector) => [vector.name, vector] as const))(
    '%s',
    async (name, vector) => {
      expect(await fallFor(vector)).toEqual([expect.stringMatching(`^${name}@`)])
    },
  )
})

test('there are vectors enough', () => {
  expect(new Set(LIVE.map(({ name }) => name)).size).toBeGreaterThan(70)
  expect(VECTORS.filter(({ control }) => control === undefined).map(({ name }) => name)).toEqual([
    'uploadpack.packObjectsHook',
  ])
})
