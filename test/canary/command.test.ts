import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { currentBranch } from '../../src/cli/run.ts'
import { plainGit } from '../git/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'slipway-command-'))

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

test('a program called git that a repository brings is not run before a run begins', async () => {
  plainGit(folder, 'init', '-q', '-b', 'trunk')
  const mark = join(folder, 'mark')
  writeFileSync(join(folder, 'git'), `#!/bin/sh\ntouch '${mark}'\necho evil\n`)
  chmodSync(join(folder, 'git'), 0o755)
  // As many have it in their PATH: ./node_modules/.bin, wherever they are.
  vi.stubEnv('PATH', `${relative(process.cwd(), folder)}:${process.env.PATH}`)
  expect(await currentBranch(folder)).toBe('trunk')
  expect(existsSync(mark)).toBe(false)
})
