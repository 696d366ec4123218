import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { openRenewals } from './renewals.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'slipway-renewals-'))
})
afterEach(() => rmSync(home, { recursive: true }))

/** Of which a text is taken over that ends with a full stop. */
const AGENT: Agent = {
  name: 'program',
  variables: [],
  addresses: [],
  hosts: [],
  home: [
    { path: 'a.txt', access: 'write', renew: ({ left }) => (/\.$/.test(left) ? left : undefined) },
    { path: 'missing.txt', access: 'write', renew: ({ left }) => left },
    { path: 'b.txt', access: 'write' },
  ],
}

test('a file that is gone by then is not made again, and fails nobody', async () => {
  const file = join(home, 'a.txt')
  writeFileSync(file, 'One.')
  const [renewal] = await openRenewals(AGENT, home, home)
  writeFileSync(renewal?.mount.outside ?? '', 'Two.')
  rmSync(file)
  await renewal?.finish()
  expect(existsSync(file)).toBe(false)
})

test('what may be changed goes from a copy to its file and on to the other copies', async () => {
  const file = join(home, 'a.txt')
  writeFileSync(file, 'One.')
  const folders = ['first', 'second'].map((name) => join(home, name))
  for (const folder of folders) mkdirSync(folder)
  const opened = await Promise.all(folders.map((folder) => openRenewals(AGENT, home, folder)))
  const [[first], [second]] = opened as [(typeof opened)[number], (typeof opened)[number]]
  expect(opened.map(({ length }) => length)).toEqual([1, 1])
  const copies = [first, second].map((one) => one?.mount.outside ?? '')
  const texts = () => [file, ...copies].map((path) => readFileSync(path, 'utf8'))
  expect(texts()).toEqual(['One.', 'One.', 'One.'])
  writeFileSync(copies[0] ?? '', 'Two.')
  await expect.poll(texts, { timeout: 10_000 }).toEqual(['Two.', 'Two.', 'Two.'])
  writeFileSync(copies[1] ?? '', 'Tampered')
  await second?.finish()
  expect(texts()).toEqual(['Two.', 'Two.', 'Tampered'])
  writeFileSync(copies[0] ?? '', 'Three.')
  await first?.finish()
  expect(texts()[0]).toBe('Three.')
})
