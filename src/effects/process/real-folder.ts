import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The one path of a folder, whatever links it was named by, also when it does not exist yet: what
 * is known by a folder's path has to be found again when somebody spells it in another way.
 */
export function realFolder(folder: string): string {
  const path = resolve(folder)
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realFolder(above), basename(path))
  }
}
