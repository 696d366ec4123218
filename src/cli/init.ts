import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { makeStateFolder } from '../journal/file-system.ts'
import { findConfigFile } from './config/config-file.ts'
import { CONFIG_STEM } from './config/load-config.ts'
import { findRepository } from './config/place.ts'
import { configJsonSchema } from './config/settings/key-table.ts'
import { CONFIG_TEMPLATE, SPEC_TEMPLATE } from './init-templates.ts'
import { jsonText } from './json-text.ts'
import { printable } from './printable.ts'
import { UsageError } from './usage-error.ts'

/** What became of one file. */
interface Written {
  readonly path: string
  readonly status: 'written' | 'kept'
}

/** `slipway init`: the first files of a repository. Nothing that is there is changed. */
export async function init({ json }: { readonly json?: true }): Promise<void> {
  const repository = findRepository(process.cwd())
  if (repository === undefined) {
    throw new UsageError('This folder is in no git repository. `git init` makes one.')
  }
  const { root } = repository
  const state = join(root, '.slipway')
  await refuseForeign(state)
  makeStateFolder(state)
  const config = await findConfigFile(root, CONFIG_STEM)
  const done = [
    config === undefined
      ? await writeNew(join(root, `${CONFIG_STEM}.yaml`), CONFIG_TEMPLATE)
      : { path: config, status: 'kept' as const },
    await writeNew(join(root, 'spec.md'), SPEC_TEMPLATE),
    await writeNew(join(state, '.gitignore'), '*\n'),
    await writeNew(join(state, 'slipway.schema.json'), `${jsonText(configJsonSchema())}\n`),
  ]
  if (json) {
    process.stdout.write(`${jsonText({ root, files: done })}\n`)
    return
  }
  const words = { written: 'wrote', kept: 'kept ' }
  const lines = done.map(({ path, status }) => `${words[status]} ${relative(root, path)}`)
  process.stdout.write(`${printable(lines.join('\n'))}\n`)
  process.stderr.write('Next: say in spec.md what you want, and see `slipway doctor`.\n')
}

/** A state folder that leads elsewhere came with the repository. */
async function refuseForeign(state: string): Promise<void> {
  const stats = await lstat(state).catch(() => undefined)
  if (stats === undefined || stats.isDirectory()) return
  throw new UsageError(`${state} is not a folder. Remove it: state is kept there.`)
}

async function writeNew(path: string, text: string): Promise<Written> {
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
    return { path, status: 'written' }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return { path, status: 'kept' }
    throw new UsageError(`${path} cannot be written (${code}). Mend that, and try again.`)
  }
}
