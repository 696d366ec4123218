import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CHECKS } from '../../scripts/checks.ts'

let copy: string

/** What of the effects the generated table of tools is made from. */
const TOOLS =
  /^src\/effects\/(guards\/|tools\/(?!tool-calls)[^/]+$|process\/(bounded-output|command)\.ts|sandbox\/sandbox\.ts|testing\/(blocked-command|test-result)\.ts)/

/** What the planted files have nothing to do with: each check of it takes seconds, in fifty tests. */
const LEFT_OUT =
  /^(bench\/|src\/effects\/|src\/cli\/(?!config\/settings\/)|test\/(?!(?:longest-first|scratch|suites)\.ts|types\/))/

const isCopied = (file: string) =>
  !file.endsWith('.test.ts') && (TOOLS.test(file) || !LEFT_OUT.test(file))

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'slipway-planted-'))
  const files = execFileSync('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ])
  for (const file of files.toString().split('\0').filter(Boolean)) {
    if (isCopied(file)) cpSync(file, join(copy, file))
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  spawnSync('git', ['init', '--quiet'], { cwd: copy })
})

afterEach(() => rmSync(copy, { recursive: true }))

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true })
  writeFileSync(join(copy, path), text)
}

function runCheck(name: keyof typeof CHECKS, ...more: readonly string[]) {
  const [command, ...args] = CHECKS[name]
  const options = { cwd: copy, encoding: 'utf8' } as const
  const result = spawnSync(`node_modules/.bin/${command}`, [...args, ...more], options)
  return { exitCode: result.status, output: result.stdout + result.stderr }
}

/** Some exports are used by what is left out. */
const UNPLANTED = (Object.keys(CHECKS) as (keyof typeof CHECKS)[]).filter(
  (name) => name !== 'unused code',
)

test.each(UNPLANTED)('%s: passes unplanted', (name) => {
  expect(runCheck(name)).toMatchObject({ exitCode: 0 })
})

describe('in the pure core', () => {
  const LAYERS = ['machines', 'agents', 'stories', 'ledger']
  /** What those say that keep the core pure, about everything that is planted. */
  const objections = () => [
    runCheck('format and lint', '--max-diagnostics=none'),
    runCheck('boundaries'),
    runCheck('types of the pure core'),
  ]

  const PLAIN = {
    'a Node module': "import { readFileSync } from 'node:fs'\n\nreadFileSync('x')\n",
    'a package': "import { z } from 'zod'\n\nz.string()\n",
    'an outer layer': "import { loop } from '../runtime/loop.ts'\n\nloop()\n",
    'a clock': 'export const nowMs = () => Date.now()\n',
    randomness: 'export const roll = () => Math.random()\n',
  }
  test('the linter refuses each plain violation in every layer', () => {
    const planted = LAYERS.flatMap((layer) =>
      Object.entries(PLAIN).map(([what, text]) => {
        const path = `src/${layer}/${what.replaceAll(' ', '-')}.ts`
        plant(path, text)
        return path
      }),
    )
    const { exitCode, output } = runCheck('format and lint', '--max-diagnostics=none')
    expect(exitCode).toBe(1)
    const rule = 'lint/\\S+/(noRestricted(Imports|Globals)|noJsRestrictedProperties)'
    for (const path of planted) expect(output).toMatch(new RegExp(`${path}:\\S+ ${rule}`))
  })

  const VIOLATIONS: readonly (readonly [layer: string, text: string])[] = [
    ['agents', "export * from './../runtime/loop.ts'\n"],
    ['agents', "export * from '../runtime/machines/x.ts'\n"],
    ['agents', "export * from '@evil/machines/x.ts'\n"],
    ['machines', "export * from '../x.ts'\n"],
    ['stories', "export * from './clock.test.ts'\n"],
    ['ledger', "import 'node:fs'\n"],
    ['ledger', 'export const fs = () => import(`node:fs`)\n'],
    ['ledger', 'export const load = (name: string) => import(name)\n'],
    ['machines', "export const os = () => import('node:os')\n"],
    ['agents', 'export const nowMs = () => performance.now()\n'],
    ['stories', "export const now = () => new Intl.DateTimeFormat('en').format()\n"],
    ['stories', 'export const nowMs = () => global.Date.now()\n'],
    ['stories', "export const nowMs = () => new Event('x').timeStamp\n"],
    ['ledger', "export const nowMs = () => new Function('return Date.now()')()\n"],
    ['machines', 'export const later = () => AbortSignal.timeout(1)\n'],
    ['machines', 'export const later = () => setTimeout(() => {}, 1)\n'],
    ['agents', 'export const id = () => crypto.randomUUID()\n'],
    ['agents', "export const roll = () => Reflect.get(Math, 'random')()\n"],
    ['agents', 'export const id = () => URL.createObjectURL(new Blob([]))\n'],
    ['stories', 'export const home = () => process.env.HOME\n'],
    ['stories', "export const bytes = Buffer.from('x')\n"],
    ['ledger', '// biome-ignore-all lint: because\nexport const nowMs = () => Date.now()\n'],
  ]

  test('every other violation is refused too', () => {
    const planted = VIOLATIONS.map(([layer, text], i) => {
      const path = `src/${layer}/planted-${i}.ts`
      plant(path, text)
      return { path, text }
    })
    const said = objections()
      .map(({ output }) => output)
      .join('\n')
    expect(planted.filter(({ path }) => !said.includes(path))).toEqual([])
  })

  test('agents may import the machines', () => {
    plant('src/agents/planted.ts', "export { step } from '../machines/step.ts'\n")
    expect(objections()).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }, { exitCode: 0 }])
  })
})

const FORBIDDEN: readonly (readonly [layer: string, path: string])[] = [
  ['runtime', '../journal/sqlite/journal.ts'],
  ['runtime', '../journal.ts'],
  ['runtime', '../effects/forge/local.ts'],
  ['runtime', '../cli/main.ts'],
  ['journal', '../effects'],
  ['journal', '../effects/forge/local.ts'],
  ['effects', '../journal/sqlite/journal.ts'],
  ['server', '../cli/main.ts'],
  ['server', '../../scripts/shell.ts'],
]

test('no layer imports what is not below it', () => {
  for (const [i, [layer, path]] of FORBIDDEN.entries()) {
    plant(`src/${layer}/planted-${i}.ts`, `export * from '${path}'\n`)
  }
  const { exitCode, output } = runCheck('boundaries')
  expect(exitCode).toBe(1)
  for (const [i, [layer, path]] of FORBIDDEN.entries()) {
    expect(output).toContain(`src/${layer}/planted-${i}.ts imports ${path}`)
  }
})

test('a folder that is no layer is refused', () => {
  plant('src/utils/planted.ts', 'export const x = 1\n')
  expect(runCheck('boundaries').output).toContain('src/utils is no layer')
})

test('the formatter refuses what it would print otherwise', () => {
  plant('src/cli/planted.ts', 'export const  x = "1";\n')
  expect(runCheck('format and lint')).toMatchObject({ exitCode: 1 })
})

test('the compiler refuses a behaviour that answers with a state its table does not allow', () => {
  const behaviour = (to: string) =>
    plant(
      'src/agents/planted.ts',
      `import type { Move } from '../machines/machine.ts'
import type { coderF } from '../machines/tables/coder-f.ts'

export const testing = (): Move<typeof coderF, 'TESTING'> => ({ event: 'tests_failed', to: '${to}' })
`,
    )
  behaviour('FIXING')
  expect(runCheck('types')).toMatchObject({ exitCode: 0 })
  behaviour('CODING')
  expect(runCheck('types').output).toContain(
    `Type '"CODING"' is not assignable to type '"CODE_REVIEW" | "FIXING" | "SUSPEND"'`,
  )
})

test('code that nothing uses is refused', () => {
  plant('src/cli/planted.ts', 'export const forgotten = 1\n')
  expect(runCheck('unused code').output).toContain('src/cli/planted.ts')
})

describe('generated documents and published tables', () => {
  const check = () => runCheck('generated documents and published tables')
  const edit = (path: string, from: string, to: string) => {
    execFileSync('sed', ['-i', `s/${from}/${to}/`, join(copy, path)])
  }

  test('a stale document is refused', () => {
    appendFileSync(join(copy, 'docs/machines/coder-f.md'), 'edited by hand\n')
    expect(check().output).toContain('docs/machines/coder-f.md is stale')
  })

  test('a document of no machine is refused', () => {
    plant('docs/machines/coder-g.md', '# coder@G\n')
    expect(check().output).toContain('coder-g.md is no document of a machine')
  })

  test('a changed table is refused, also after generating again', () => {
    edit('src/machines/tables/coder-f.ts', "to: 'AWAIT_MERGE'", "to: 'DONE'")
    spawnSync('node_modules/.bin/tsx', ['scripts/generate.ts'], { cwd: copy })
    const { exitCode, output } = check()
    expect(exitCode).toBe(1)
    expect(output.trim()).toBe(
      'coder@F is published and its table changed: make a new revision instead',
    )
  })

  test('a changed overlay changes every table, and is refused', () => {
    edit('src/machines/suspend.ts', "event: 'channel_closed'", "event: 'abandoned'")
    spawnSync('node_modules/.bin/tsx', ['scripts/generate.ts'], { cwd: copy })
    expect(check().output.match(/is published and its table changed/g)).toHaveLength(11)
  })

  test('a table that is gone is refused', () => {
    edit('src/machines/catalog.ts', '^  coderD,$', '')
    expect(check().output).toContain('coder@D is published and gone')
  })

  test('better prose in a published table is no change of the table', () => {
    edit('src/machines/tables/coder-f.ts', 'Run the tests', 'Run all the tests')
    spawnSync('node_modules/.bin/tsx', ['scripts/generate.ts'], { cwd: copy })
    expect(check()).toMatchObject({ exitCode: 0 })
  })
})

test('npm run check fails as a whole when one check does', () => {
  plant('src/machines/planted.ts', "import 'node:fs'\n")
  const result = spawnSync('npm', ['run', 'check'], { cwd: copy, encoding: 'utf8' })
  expect(result.status).toBe(1)
  expect(result.stdout).toContain('FAILED format and lint')
})
