import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const SIZE_MAX_BYTES = 5e6

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
    expect(path).toMatch(
      /^(dist\/.+\.js|dist\/LICENCES\.txt|docs\/.+|package\.json|[A-Z]+(\.md)?)$/,
    )
  }
  expect(readFileSync('dist/LICENCES.txt', 'utf8')).toMatch(/^commander 14\.0\.3\n/)
})

test('the published package installs without scripts and runs', () => {
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--offline']
  execFileSync('npm', [...install, join(folder, packed.filename)])
  const command = join(folder, 'node_modules/.bin/slipway')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(execFileSync(command, ['--version']).toString()).toBe(`${version}\n`)
  expect(execFileSync(command, ['machines']).toString()).toContain('coder@F')
})
