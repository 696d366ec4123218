import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findRepository, trustFilePath, userConfigFolder } from './place.ts'

test('a repository is found from below, also where .git is a file', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-place-')))
  try {
    mkdirSync(join(folder, 'a/.git'), { recursive: true })
    mkdirSync(join(folder, 'a/tree/x/y'), { recursive: true })
    writeFileSync(join(folder, 'a/tree/.git'), 'gitdir: elsewhere')
    expect(findRepository(join(folder, 'a'))?.root).toBe(join(folder, 'a'))
    expect(findRepository(join(folder, 'a/tree/x/y'))?.root).toBe(join(folder, 'a/tree'))
    expect(findRepository(folder)).toBeUndefined()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each([
  [{ XDG_CONFIG_HOME: '/x', XDG_STATE_HOME: '/y', HOME: '/h' }, '/x', '/y'],
  [{ HOME: '/h' }, '/h/.config', '/h/.local/state'],
  [{ XDG_CONFIG_HOME: 'x', XDG_STATE_HOME: './y', HOME: '/h' }, '/h/.config', '/h/.local/state'],
  [{}, join(homedir(), '.config'), join(homedir(), '.local/state')],
])('with %j files are where they belong', (environment, config, state) => {
  expect(userConfigFolder(environment)).toBe(join(config, 'slipway'))
  expect(trustFilePath(environment)).toBe(join(state, 'slipway/trust.json'))
})
