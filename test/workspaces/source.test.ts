import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { updateMirror } from '../../src/effects/git/repositories.ts'
import { openGitWorld } from '../git/world.ts'

test.each([
  [
    'leads nowhere',
    '1'.repeat(40),
    /heads\/lost\.[\s\S]*\n {2}git update-ref -d 'refs\/heads\/lost'$/,
  ],
  ['cannot be read', 'nonsense', /`git for-each-ref` names it/],
])('a repository with a branch that %s is refused with what to type', async (_, content, words) => {
  const world = await openGitWorld({ 'a.txt': 'a\n' })
  try {
    const update = () => updateMirror(world.git, world.repositories, world.user)
    const lost = join(world.user, '.git', 'refs', 'heads', 'lost')
    writeFileSync(lost, `${content}\n`)
    await expect(update()).rejects.toThrow(words)
    rmSync(lost)
    await update()
  } finally {
    await world.close()
  }
})
