import type { TestCommand } from '../test-result.ts'
import type { WorkspaceFiles } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'

const TEST_FILE = /^(?:test_.*|.*_test)\.py$/
const FOLDERS = ['.', 'tests', 'test'] as const

// Where pytest is configured, and where it is asked for.
const MENTIONS = [
  ['pyproject.toml', /\[tool\.pytest|["']pytest\b/],
  ['setup.cfg', /^\[tool:pytest\]|^[ \t]*pytest\b/m],
  ['tox.ini', /^\[pytest\]|\bpytest\b/m],
  ['requirements-dev.txt', /^pytest\b/m],
  ['requirements.txt', /^pytest\b/m],
] as const

const TEST_FILES_READ_MAX = 20

/** pytest where anything says so, and unittest for tests that are written for it. */
export const python: Ecosystem = async (files) => {
  const tests = await testFiles(files)
  const reason = await whyPytest(files)
  const start = await interpreter(files)
  if (reason !== undefined) return [{ argv: [...start, '-m', 'pytest'], reason }]
  const [first] = tests
  if (first === undefined) return []
  const texts = await readSome(files, tests)
  const isUnittest = texts.every((text) => !/^[ \t]*(?:import|from) pytest\b/m.test(text))
  if (isUnittest && texts.some((text) => /^[ \t]*(?:import|from) unittest\b/m.test(text))) {
    return unittestCommands(files, start, tests)
  }
  return [{ argv: [...start, '-m', 'pytest'], reason: `there is ${first.folder}/${first.name}` }]
}

interface TestFile {
  readonly folder: string
  readonly name: string
}

async function testFiles(files: WorkspaceFiles): Promise<readonly TestFile[]> {
  const found: TestFile[] = []
  for (const folder of FOLDERS) {
    for (const name of await files.filesIn(folder, TEST_FILE)) found.push({ folder, name })
  }
  return found
}

async function whyPytest(files: WorkspaceFiles): Promise<string | undefined> {
  const file = await files.firstOf('pytest.ini', '.pytest.ini', 'conftest.py')
  if (file !== undefined) return `there is a ${file}`
  for (const folder of ['tests', 'test']) {
    if ((await files.filesIn(folder, /^conftest\.py$/)).length > 0) {
      return `there is a ${folder}/conftest.py`
    }
  }
  for (const [name, pattern] of MENTIONS) {
    if (pattern.test((await files.read(name)) ?? '')) return `${name} mentions pytest`
  }
  return undefined
}

/** The interpreter in which the repository's own packages are. */
async function interpreter(files: WorkspaceFiles): Promise<readonly [string, ...string[]]> {
  if (await files.has('uv.lock')) return ['uv', 'run', 'python']
  if (await files.has('poetry.lock')) return ['poetry', 'run', 'python']
  return ['python3']
}

async function readSome(files: WorkspaceFiles, tests: readonly TestFile[]): Promise<string[]> {
  const texts: string[] = []
  for (const { folder, name } of tests.slice(0, TEST_FILES_READ_MAX)) {
    texts.push((await files.read(name, folder)) ?? '')
  }
  return texts
}

/** unittest looks below a folder only where that is a package; elsewhere it is started inside. */
async function unittestCommands(
  files: WorkspaceFiles,
  start: readonly [string, ...string[]],
  tests: readonly TestFile[],
): Promise<readonly TestCommand[]> {
  const commands = new Map<string, TestCommand>()
  for (const { folder, name } of tests) {
    const isPackage = (await files.filesIn(folder, /^__init__\.py$/)).length > 0
    const from = folder === '.' || isPackage ? [] : ['-s', folder]
    const argv = [...start, '-m', 'unittest', 'discover', ...from] as const
    const key = from.join(' ')
    const reason = `${folder === '.' ? '' : `${folder}/`}${name} is written for unittest`
    if (!commands.has(key)) commands.set(key, { argv, reason })
  }
  return [...commands.values()]
}
