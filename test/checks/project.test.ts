import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(path, 'utf8')
const MANIFESTS = [
  'package.json',
  'bench/package.json',
  'test/nodes/package.json',
  'test/forge/package.json',
  'test/agents/package.json',
]

test("CI runs exactly the README's test command", () => {
  const [start, testCommand] = [...read('README.md').matchAll(/^npm ci && .*$/gm)].map(String)
  expect(start).toBe('npm ci && npm start')
  expect(read('.ci/run').trim().split('\n').at(-1)).toBe(testCommand)
})

test.each(MANIFESTS)('%s pins exact versions', (path) => {
  const { dependencies, devDependencies } = JSON.parse(read(path))
  for (const version of Object.values({ ...dependencies, ...devDependencies })) {
    expect(version).toMatch(/^(npm:[\w-]+@)?\d+\.\d+\.\d+$/)
  }
})

test.each(MANIFESTS)('the lock file beside %s names no registry', (path) => {
  expect(read(path.replace('package.json', 'package-lock.json'))).not.toMatch(/"resolved"/)
})

test.each(MANIFESTS)('the lock file beside %s has the packages of every platform', (path) => {
  const { packages } = JSON.parse(read(path.replace('package.json', 'package-lock.json')))
  const locked = Object.keys(packages)
  for (const { optionalDependencies } of Object.values<{ optionalDependencies?: object }>(
    packages,
  )) {
    for (const name of Object.keys(optionalDependencies ?? {})) {
      expect(
        locked.some((entry) => entry.endsWith(`node_modules/${name}`)),
        name,
      ).toBe(true)
    }
  }
})

test('no dependency wants an install script that would not run', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const wanting = Object.entries<{ hasInstallScript?: true; optional?: true }>(packages)
    .filter(([, { hasInstallScript, optional }]) => hasInstallScript && !optional)
    .map(([name]) => name)
  // Both scripts only look whether their prebuilt binary is there, and both work without.
  expect(wanting).toEqual(['node_modules/@photostructure/sqlite', 'node_modules/esbuild'])
})

test('every direct dependency is justified in ARCHITECTURE.md', () => {
  const architecture = read('ARCHITECTURE.md')
  for (const path of MANIFESTS) {
    const { dependencies, devDependencies } = JSON.parse(read(path))
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      if (name.startsWith('node-')) continue
      expect(architecture, name).toContain(`\`${name}\``)
    }
  }
})

test('every link between documents leads to a file', () => {
  const documents = execFileSync('git', ['ls-files', '*.md']).toString().trim().split('\n')
  for (const document of documents) {
    for (const [, target = ''] of read(document).matchAll(/\]\(([^)#]+)/g)) {
      if (/^https?:/.test(target)) continue
      const path = new URL(target, `file:///${document}`).pathname.slice(1)
      expect(existsSync(path), `${document} links to ${target}`).toBe(true)
    }
  }
})
