import { isObject, type WorkspaceFiles } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'
import { inlineScripts } from './package-scripts.ts'
import { runsNothing } from './script.ts'

const ARGV = {
  npm: ['npm', 'test'],
  pnpm: ['pnpm', 'test'],
  yarn: ['yarn', 'test'],
  // `bun test` is Bun's own runner, whatever the script says.
  bun: ['bun', 'run', 'test'],
} as const

const LOCK_FILES = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
] as const

/** The script `test` of package.json, run by the package manager that the repository uses. */
export const nodePackage: Ecosystem = async (files) => {
  const manifest = await files.readJson('package.json')
  if (manifest === undefined) return []
  const script = testScript(manifest.scripts)
  if (script === null) {
    files.note('package.json', 'malformed', 'its script "test" is no text')
    return []
  }
  const whole = script === undefined ? '' : inlineScripts('npm test', manifest.scripts)
  if (script === undefined || runsNothing(whole)) {
    const what =
      script === undefined ? 'has no script "test"' : 'has a script "test" that runs nothing'
    files.note('package.json', 'no_test_script', `it ${what}`)
    return []
  }
  const { manager, source } = await packageManager(files, manifest.packageManager)
  const reason = `package.json has a script "test"; ${source}`
  return [{ argv: ARGV[manager], reason, script: whole }]
}

/** Null when it is malformed. */
function testScript(scripts: unknown): string | undefined | null {
  if (scripts === undefined) return undefined
  if (!isObject(scripts)) return null
  const { test } = scripts
  return test === undefined || typeof test === 'string' ? test : null
}

async function packageManager(
  files: WorkspaceFiles,
  field: unknown,
): Promise<{ readonly manager: keyof typeof ARGV; readonly source: string }> {
  if (field !== undefined) {
    const name =
      typeof field === 'string' ? /^(npm|pnpm|yarn|bun)(?:@|$)/.exec(field)?.[1] : undefined
    if (name !== undefined) {
      return { manager: name as keyof typeof ARGV, source: `"packageManager" says ${name}` }
    }
    files.note('package.json', 'unknown', 'its "packageManager" is none that is known')
  }
  for (const [file, manager] of LOCK_FILES) {
    if (await files.has(file)) return { manager, source: `${file} says ${manager}` }
  }
  return { manager: 'npm', source: 'nothing says which package manager' }
}
