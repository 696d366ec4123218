import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProcesses, type Processes } from '../process/processes.ts'
import { findGithubToken } from './github-token.ts'

let folder: string
let processes: Processes

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-token-'))
  processes = openProcesses(folder)
  // It answers with what it was asked and with what it can see.
  const script =
    '#!/bin/sh\n[ "$GH_CONFIG_DIR" = none ] && exit 4\necho "$*+$SECRET" | tr " " "+"\n'
  writeFileSync(join(folder, 'gh'), script)
  chmodSync(join(folder, 'gh'), 0o755)
})

afterAll(async () => {
  await processes.close()
  rmSync(folder, { recursive: true })
})

const ENV = { GH_TOKEN: 'a', GITHUB_TOKEN: 'b', GH_ENTERPRISE_TOKEN: 'c' }

test.each<[string, string, Record<string, string>, string | undefined]>([
  ['the first of its names', 'github.com', ENV, 'a'],
  ['the second, when the first is empty', 'github.com', { ...ENV, GH_TOKEN: ' ' }, 'b'],
  ['the names of the public service', 'acme.ghe.com', ENV, 'a'],
  ['a name of its own for another server', 'ghe.example.org', ENV, 'c'],
  ['never the token of github.com', 'ghe.example.org', { GITHUB_TOKEN: 'b' }, undefined],
  ['nothing that ends a header', 'github.com', { GH_TOKEN: 'a\r\nHost: evil' }, undefined],
])('a token from the environment is %s', async (_, host, env, token) => {
  expect(await findGithubToken(host, { env })).toBe(token)
})

test('gh is asked for the host, and sees nothing but what it needs', async () => {
  const env = { PATH: `${folder}:${process.env.PATH}`, SECRET: 'x', HOME: folder }
  const token = await findGithubToken('ghe.example.org', { env, processes })
  expect(token).toBe('auth+token+--hostname+ghe.example.org+')
})

test.each([
  ['gh has none', { PATH: '', GH_CONFIG_DIR: 'none' }],
  ['there is no gh', { PATH: '/nonexistent' }],
])('there is no token when %s', async (_, changes) => {
  const path = changes.PATH || `${folder}:${process.env.PATH}`
  const env = { ...changes, PATH: path }
  expect(await findGithubToken('github.com', { env, processes })).toBeUndefined()
})
