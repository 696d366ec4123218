import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AGENTS } from './agent-catalog.ts'
import { coveringMounts, homeMounts } from './agent-mounts.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-mounts-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('what is there of a home is shown: credentials to be renewed, settings to be read', async () => {
  mkdirSync(join(folder, '.codex'))
  for (const name of ['auth.json', 'config.toml', 'history.jsonl']) {
    writeFileSync(join(folder, '.codex', name), '')
  }
  const inside = '/home/sandbox/.codex'
  expect(await homeMounts(AGENTS.codex, folder)).toEqual([
    { outside: join(folder, '.codex/auth.json'), inside: `${inside}/auth.json`, access: 'write' },
    {
      outside: join(folder, '.codex/config.toml'),
      inside: `${inside}/config.toml`,
      access: 'read',
    },
  ])
  expect(await homeMounts(AGENTS.gemini, folder)).toEqual([])
})

test('a folder that an agent adds to is shown in parts, also those that are links', async () => {
  const own = join(folder, '.config/opencode')
  mkdirSync(join(own, 'agent'), { recursive: true })
  writeFileSync(join(folder, 'dotfile'), '')
  symlinkSync(join(folder, 'dotfile'), join(own, 'opencode.json'))
  symlinkSync(join(folder, 'nowhere'), join(own, 'lost.json'))
  const part = (name: string) => ({
    outside: join(own, name),
    inside: join('/home/sandbox/.config/opencode', name),
    access: 'read',
  })
  expect(await homeMounts(AGENTS.opencode, folder)).toEqual([part('agent'), part('opencode.json')])
})

test('what a repository configures is covered where it is, be it a folder or a file', async () => {
  const empty = join(folder, 'empty')
  const inside = join(folder, '.codex')
  expect(await coveringMounts(AGENTS.codex, folder, empty)).toEqual([])
  mkdirSync(inside)
  const cover = { outside: empty, inside, access: 'read' }
  expect(await coveringMounts(AGENTS.codex, folder, empty)).toEqual([cover])
  rmSync(inside, { recursive: true })
  writeFileSync(inside, '')
  const coverFile = { ...cover, outside: '/dev/null' }
  expect(await coveringMounts(AGENTS.codex, folder, empty)).toEqual([coverFile])
})

test('a link in that place is refused: it would cover something else', async () => {
  symlinkSync('/etc', join(folder, '.codex'))
  const covering = coveringMounts(AGENTS.codex, folder, join(folder, 'empty'))
  await expect(covering).rejects.toThrow('.codex is a link')
})
