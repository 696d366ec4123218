import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { detectTestCommands } from './detect-test-commands.ts'

let outside: string
let workspace: string
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'slipway-detect-'))
  workspace = join(outside, 'workspace')
  mkdirSync(workspace)
})
afterEach(() => rmSync(outside, { recursive: true }))

type Files = Record<string, string>

function write(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
}

async function detect(files: Files) {
  write(files)
  const { commands, remarks } = await detectTestCommands(workspace)
  return { lines: commands.map(({ argv }) => argv.join(' ')), commands, remarks }
}

const script = (test: unknown, more: object = {}) => JSON.stringify({ scripts: { test }, ...more })
const UNITTEST = 'import unittest\n\nclass T(unittest.TestCase): pass\n'
const PYTEST = 'import pytest\n'

describe('a command is known to report its tests', () => {
  const npm = (scripts: object): Files => ({ 'package.json': JSON.stringify({ scripts }) })
  test.each<[Files, boolean]>([
    [npm({ test: 'node --test' }), true],
    [npm({ test: 'tsc && node --import tsx --test src/' }), true],
    [npm({ test: 'vitest run --coverage' }), true],
    [npm({ test: 'npm run lint && npm run test:unit', 'test:unit': 'c8 mocha' }), true],
    [npm({ test: 'pnpm check', check: 'yarn test' }), false],
    [npm({ test: 'npx playwright test' }), true],
    [npm({ test: './node_modules/.bin/jest' }), true],
    [npm({ test: 'node --eval 0' }), false],
    [npm({ test: 'node --test-like x' }), false],
    [npm({ test: 'javac jest.config.js' }), false],
    [{ Makefile: 'test: build\n\t@pytest -q\n' }, true],
    [{ Makefile: 'test: ; go test ./...\n' }, true],
    [{ Makefile: 'test:\n\t./check.sh\n\nother:\n\tpytest\n' }, false],
    [{ 'pytest.ini': '' }, true],
    [{ 'go.mod': '' }, true],
    [{ 'Cargo.toml': '' }, true],
    [{ 'pom.xml': '' }, true],
    [{ 'build.gradle': '' }, true],
    [{ 'a.csproj': '' }, true],
    [{ 'mix.exs': '' }, true],
    [{ '.rspec': '' }, true],
    [{ 'phpunit.xml': '' }, true],
    [{ 't/a.t': '' }, true],
    [{ 'deno.json': '{}' }, true],
    [{ 'deno.json': '{"tasks":{"test":"./run"}}' }, false],
    [{ 'composer.json': '{"scripts":{"test":["phpunit"]}}' }, true],
    [{ 'Package.swift': '' }, false],
  ])('%j: %s', async (files, reports) => {
    const { commands } = await detect(files)
    expect(commands.map((command) => command.reports !== undefined)).toEqual([reports])
  })
})

describe('a repository is tested by', () => {
  test.each<[string, Files, string[]]>([
    ['nothing', {}, []],
    ['npm', { 'package.json': script('node --test') }, ['npm test']],
    [
      'npm, by its lock',
      { 'package.json': script('jest'), 'package-lock.json': '{}' },
      ['npm test'],
    ],
    ['pnpm, by its lock', { 'package.json': script('jest'), 'pnpm-lock.yaml': '' }, ['pnpm test']],
    ['yarn, by its lock', { 'package.json': script('jest'), 'yarn.lock': '' }, ['yarn test']],
    ['bun, by its lock', { 'package.json': script('jest'), 'bun.lock': '' }, ['bun run test']],
    ['bun, by its old lock', { 'package.json': script('jest'), 'bun.lockb': '' }, ['bun run test']],
    [
      'what packageManager says, whatever lock there is',
      { 'package.json': script('jest', { packageManager: 'pnpm@9.1.0' }), 'yarn.lock': '' },
      ['pnpm test'],
    ],
    [
      'a manifest with a byte order mark',
      { 'package.json': `\ufeff${script('jest')}` },
      ['npm test'],
    ],
    ['deno', { 'deno.json': '{}' }, ['deno test']],
    ["deno's task", { 'deno.json': '{"tasks":{"test":"deno test -A"}}' }, ['deno task test']],
    [
      "deno's task, among comments",
      { 'deno.jsonc': '{ // why\n "tasks": { "test": "deno test" }, }' },
      ['deno task test'],
    ],
    ['deno with comments', { 'deno.jsonc': '{ /* "test": none */ }' }, ['deno test']],
    ['pytest.ini', { 'pytest.ini': '' }, ['python3 -m pytest']],
    ['conftest.py', { 'tests/conftest.py': '' }, ['python3 -m pytest']],
    [
      'pyproject.toml with its settings',
      { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
      ['python3 -m pytest'],
    ],
    [
      'pyproject.toml with its dependency',
      { 'pyproject.toml': '[project]\ndependencies = ["pytest>=8"]\n' },
      ['python3 -m pytest'],
    ],
    ['a pyproject.toml without tests', { 'pyproject.toml': '[project]\nname = "x"\n' }, []],
    ['setup.cfg', { 'setup.cfg': '[tool:pytest]\n' }, ['python3 -m pytest']],
    ['tox.ini', { 'tox.ini': '[pytest]\n' }, ['python3 -m pytest']],
    ['uv', { 'uv.lock': '', 'tests/test_a.py': PYTEST }, ['uv run python -m pytest']],
    ['poetry', { 'poetry.lock': '', 'tests/test_a.py': PYTEST }, ['poetry run python -m pytest']],
    ['plain test functions', { 'tests/test_a.py': 'def test_a(): pass\n' }, ['python3 -m pytest']],
    ['unittest', { 'test_a.py': UNITTEST }, ['python3 -m unittest discover']],
    [
      'unittest, in a folder that is a package',
      { 'tests/test_a.py': UNITTEST, 'tests/__init__.py': '' },
      ['python3 -m unittest discover'],
    ],
    [
      'unittest, in a folder that is none',
      { 'tests/test_a.py': UNITTEST, 'tests/test_b.py': UNITTEST },
      ['python3 -m unittest discover -s tests'],
    ],
    [
      'unittest, in both places',
      { 'tests/test_a.py': UNITTEST, 'test_b.py': UNITTEST },
      ['python3 -m unittest discover', 'python3 -m unittest discover -s tests'],
    ],
    [
      'pytest, when some tests are written for it',
      { 'tests/test_a.py': UNITTEST, 'tests/test_b.py': PYTEST },
      ['python3 -m pytest'],
    ],
    ['go', { 'go.mod': 'module x\n' }, ['go test ./...']],
    [
      'go, in a workspace',
      { 'go.work': 'go 1.22\n\nuse (\n\t./a // the first\n\t./b/c\n\t../elsewhere\n)\nuse ./d\n' },
      ['go test ./a/... ./b/c/... ./d/...'],
    ],
    ['cargo', { 'Cargo.toml': '[package]\nname = "x"\n' }, ['cargo test']],
    ['cargo, in a workspace', { 'Cargo.toml': '[workspace]\n' }, ['cargo test --workspace']],
    ['Maven', { 'pom.xml': '' }, ['mvn --batch-mode test']],
    ['Gradle', { 'build.gradle.kts': '' }, ['gradle test']],
    ['dotnet', { 'App.sln': '', 'App.csproj': '' }, ['dotnet test ./App.sln']],
    ['dotnet, one project', { 'App.Tests.fsproj': '' }, ['dotnet test']],
    ['a file that looks like an option', { '-o.sln': '', 'b.sln': '' }, ['dotnet test ./-o.sln']],
    ['mix', { 'mix.exs': '' }, ['mix test']],
    ['RSpec', { Gemfile: '', '.rspec': '' }, ['bundle exec rspec']],
    ['RSpec, without Bundler', { 'spec/a_spec.rb': '' }, ['rspec']],
    ['rake', { Gemfile: '', Rakefile: 'Rake::TestTask.new' }, ['bundle exec rake test']],
    ['rake, by hand', { Rakefile: 'task :test do\nend\n' }, ['rake test']],
    ['a Rakefile without tests', { Rakefile: 'task :testify\n' }, []],
    [
      'Rails',
      { Gemfile: '', Rakefile: '', 'bin/rails': '', 'test/a_test.rb': '' },
      ['bin/rails test'],
    ],
    ['Composer', { 'composer.json': script(['@lint', 'phpunit']) }, ['composer test']],
    ['PHPUnit', { 'composer.json': '{}', 'phpunit.xml.dist': '' }, ['vendor/bin/phpunit']],
    ['Pest', { 'composer.json': '{"require-dev":{"pestphp/pest":"^3"}}' }, ['vendor/bin/pest']],
    ['Swift', { 'Package.swift': '' }, ['swift test']],
    ['Dart', { 'pubspec.yaml': 'name: x\n' }, ['dart test']],
    [
      'Flutter',
      { 'pubspec.yaml': 'dependencies:\n  flutter:\n    sdk: flutter\n' },
      ['flutter test'],
    ],
    ['prove', { 't/a.t': '' }, ['prove -lr t']],
    ['make test', { Makefile: 'all:\n\ntest: all\n\t./t\n' }, ['make test']],
    ['make check', { Makefile: 'check lint:\n\t./t\n' }, ['make check']],
    ['make, without a target that only prints', { Makefile: 'test:\n\t@echo ok\n' }, []],
    [
      'make check, where test only prints',
      { Makefile: 'test:\n\t@echo ok\ncheck:\n\t./t\n' },
      ['make check'],
    ],
    [
      'make test, where what it needs does the work',
      { Makefile: 'test: unit\n\t@echo ok\nunit:\n\t./t\n' },
      ['make test'],
    ],
    ['make, with both', { GNUmakefile: 'check:\ntest:\n' }, ['make test']],
    [
      'a Makefile without such a target',
      { Makefile: '.PHONY: test\ntest := 1\ntest = 2\n# test:\n\ttest:\nlatest:\nA=test: b\n' },
      [],
    ],
  ])('%s', async (_, files, lines) => {
    expect((await detect(files)).lines).toEqual(lines)
  })

  test('all of its ecosystems, in one order', async () => {
    const { lines, commands } = await detect({
      Makefile: 'test:\n',
      'package.json': script('vitest run'),
      'pytest.ini': '',
      'go.mod': '',
      'Cargo.toml': '',
      'pom.xml': '',
    })
    expect(lines).toEqual([
      'npm test',
      'python3 -m pytest',
      'go test ./...',
      'cargo test',
      'mvn --batch-mode test',
      'make test',
    ])
    expect(commands.map(({ reason }) => reason)).toEqual([
      'package.json has a script "test"; nothing says which package manager',
      'there is a pytest.ini',
      'there is a go.mod',
      'there is a Cargo.toml',
      'there is a pom.xml',
      'Makefile has a target "test"',
    ])
  })

  test('its own wrapper, also one that has lost its permission', async () => {
    write({ 'pom.xml': '', mvnw: '', 'build.gradle': '', gradlew: '' })
    chmodSync(join(workspace, 'gradlew'), 0o755)
    const { lines } = await detect({})
    expect(lines).toEqual(['sh ./mvnw --batch-mode test', './gradlew test'])
  })
})

describe('a script that runs nothing is no test', () => {
  test.each([
    'echo "Error: no test specified" && exit 1',
    'true',
    ':',
    '',
    'exit 0',
    'echo',
    "echo 'all tests passed; really && truly'",
    'echo ok; exit 0 || true',
  ])('%s', async (text) => {
    const { lines, remarks } = await detect({ 'package.json': script(text) })
    expect(lines).toEqual([])
    expect(remarks).toMatchObject([{ path: 'package.json', code: 'no_test_script' }])
  })

  test.each(['echo start && jest', 'true && node --test', 'echo "$(jest)"', 'echo a | tee b'])(
    'unlike %s',
    async (text) => {
      expect((await detect({ 'package.json': script(text) })).lines).toEqual(['npm test'])
    },
  )

  test('also for Composer', async () => {
    const { lines, remarks } = await detect({ 'composer.json': script(['echo a', 'true']) })
    expect(lines).toEqual([])
    expect(remarks).toMatchObject([{ path: 'composer.json', code: 'no_test_script' }])
  })
})

describe('what cannot be read is noted, and the rest is found', () => {
  test.each<[string, string, string]>([
    ['no JSON', '{ "scripts": ', 'malformed'],
    ['no object', '[1]', 'malformed'],
    ['scripts that are none', '{"scripts":3}', 'malformed'],
    ['a script that is no text', '{"scripts":{"test":{}}}', 'malformed'],
    ['no script', '{}', 'no_test_script'],
    ['a manager that nobody knows', script('jest', { packageManager: 'cargo@1' }), 'unknown'],
    ['a file that is too large', JSON.stringify({ a: 'x'.repeat(300_000) }), 'too_large'],
  ])('%s', async (_, text, code) => {
    const { lines, remarks } = await detect({ 'package.json': text, 'go.mod': '' })
    expect(remarks).toMatchObject([{ path: 'package.json', code }])
    expect(lines).toContain('go test ./...')
  })

  test('a link to another file of the workspace is followed', async () => {
    write({ 'build/Makefile': 'test:\n' })
    symlinkSync('build/Makefile', join(workspace, 'Makefile'))
    expect((await detect({})).lines).toEqual(['make test'])
  })

  test.each(['../secret', '/etc/hostname', 'nowhere', '.'])(
    'a link to %s is not',
    async (target) => {
      writeFileSync(join(outside, 'secret'), 'test:\n')
      symlinkSync(target, join(workspace, 'Makefile'))
      const { lines, remarks } = await detect({})
      expect(lines).toEqual([])
      expect(remarks.map(({ path }) => path)).toEqual(['Makefile'])
    },
  )

  test('a folder that is a link is not looked into', async () => {
    mkdirSync(join(outside, 'tests'))
    writeFileSync(join(outside, 'tests/test_a.py'), PYTEST)
    symlinkSync('../tests', join(workspace, 'tests'))
    expect((await detect({})).lines).toEqual([])
  })

  test('folders in the place of files, and files in the place of folders, are none', async () => {
    mkdirSync(join(workspace, 'package.json'))
    expect(await detect({ tests: '', spec: '', t: '', bin: '' })).toMatchObject({ lines: [] })
  })

  test('a workspace that does not exist has no commands', async () => {
    const { commands, remarks } = await detectTestCommands(join(workspace, 'gone'))
    expect(commands).toEqual([])
    expect(remarks).toMatchObject([{ path: '.', code: 'unreadable' }])
  })

  test('whatever the files hold, nothing throws and every command is one of ours', async () => {
    const names = [
      'package.json',
      'composer.json',
      'deno.json',
      'deno.jsonc',
      'Makefile',
      'go.work',
    ]
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json({ maxDepth: 3 }).map((json) => `{"scripts":${json}}`),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), text, async (name, content) => {
        const { commands } = await detect({ [name]: content })
        for (const { argv } of commands) {
          expect(argv[0]).toMatch(/^(?:npm|pnpm|yarn|bun|deno|composer|make|go)$/)
        }
        rmSync(join(workspace, name))
      }),
      { numRuns: Number(process.env.SLIPWAY_FUZZ ?? 200) },
    )
  })
})
