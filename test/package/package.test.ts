import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openState } from '../disk/state.ts'

const SIZE_MAX_BYTES = 5e6

const HOLDS =
  /^(dist\/.+\.js|dist\/chunks\/migrations\/.+\.sql|dist\/prompts\/.+\.md|dist\/demo\/.+|dist\/LICENCES\.txt|docs\/.+|package\.json|[A-Z]+(\.md)?)$/

let folder: string
let packed: { filename: string; unpackedSize: number; files: { path: string }[] }

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-package-'))
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', folder])
  packed = JSON.parse(output.toString())[0]
})

afterAll(() => rmSync(folder, { recursive: true }))

test('the published package is small and holds the bundle, not the sources', () => {
  expect(packed.unpackedSize).toBeLessThan(SIZE_MAX_BYTES)
  for (const { path } of packed.files) {
    expect(path).toMatch(HOLDS)
  }
  const prompts = packed.files.filter(({ path }) => path.startsWith('dist/prompts/'))
  const written = readdirSync('src/effects/prompts', { recursive: true, encoding: 'utf8' })
  expect(prompts).toHaveLength(written.filter((path) => path.endsWith('.md')).length)
  expect(readFileSync('dist/LICENCES.txt', 'utf8')).toMatch(/^commander 14\.0\.3\n/)
})

test('the published package installs without scripts and runs', async () => {
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--prefer-offline']
  execFileSync('npm', [...install, join(folder, packed.filename)])
  const command = join(folder, 'node_modules/.bin/slipway')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(execFileSync(command, ['--version']).toString()).toBe(`${version}\n`)
  expect(execFileSync(command, ['machines']).toString()).toContain('coder@F')

  const state = join(folder, 'state')
  const made = await openState(state)
  await made.note('n1', 'x')
  await made.close()
  const replayed = execFileSync(command, ['replay', 'run-1', '--state', state]).toString()
  expect(replayed).toContain('Sound: 2 rows fold to the snapshots of 1 agents.')
})
