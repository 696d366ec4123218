import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openGitWorld, plainGit } from '../git/world.ts'

const CLONES = 25

test('a mirror that git is writing to can be cloned', { timeout: 120_000 }, async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}.txt`, `${i}\n`]))
  const world = await openGitWorld(files)
  const objects = join(world.repositories.mirror, 'objects')
  let count = 0
  let isOver = false
  // As git does in a commit with batched fsync: objects come about elsewhere, and are moved.
  const write = () => {
    count += 1
    const folder = join(objects, `tmp_objdir-bulk-fsync-${count}`)
    for (let i = 0; i < 20; i += 1) {
      mkdirSync(join(folder, `a${i}`), { recursive: true })
      writeFileSync(join(folder, `a${i}`, 'tmp_obj'), 'x')
    }
    setTimeout(() => {
      renameSync(folder, `${folder}.gone`)
      rmSync(`${folder}.gone`, { recursive: true })
      if (!isOver) setImmediate(write)
    }, 1)
  }
  write()
  try {
    for (let i = 0; i < CLONES; i += 1) {
      const { folder } = await world.workspaces.prepare({ run: 'r1', story: `s${i}` }, world.base)
      expect(plainGit(folder, 'rev-parse', 'HEAD')).toBe(world.base)
      expect(plainGit(folder, 'status', '--porcelain')).toBe('')
    }
  } finally {
    isOver = true
    await new Promise((resolve) => setTimeout(resolve, 50))
    await world.close()
  }
})
