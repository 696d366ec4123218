import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repositories } from './repositories.ts'

/** Does something with a folder of its own, which goes away afterwards. */
export async function inScratch<T>(
  { scratch }: Pick<Repositories, 'scratch'>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(scratch, 'at-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
