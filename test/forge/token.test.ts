import { expect, test } from 'vitest'
import type { LoadedConfig } from '../../src/cli/config/load-config.ts'
import { DEFAULTS } from '../../src/cli/config/settings/defaults.ts'
import { forgeOpener } from '../../src/cli/engine/github.ts'
import { openGitWorld, plainGit } from '../git/world.ts'

test('the token of the forge is told as a secret when the forge is opened', async () => {
  const world = await openGitWorld({ a: '' })
  try {
    const { git, repositories, processes, state, user } = world
    plainGit(user, 'remote', 'add', 'origin', 'https://github.com/robot/app.git')
    const config = { ...DEFAULTS, forge: { ...DEFAULTS.forge, kind: 'github' } }
    const repository = { root: user, git: `${user}/.git` }
    const loaded = { config, repository } as unknown as LoadedConfig
    const secrets: string[] = []
    const open = forgeOpener(loaded, { GH_TOKEN: 'canary-token-of-the-forge' }, (token) =>
      secrets.push(token),
    )
    const forge = await open?.({ git, repositories, processes, folder: state })
    expect(secrets).toEqual(['canary-token-of-the-forge'])
    expect(forge).toMatchObject({ kind: 'github', checksGraceMs: 30_000 })
  } finally {
    await world.close()
  }
})
