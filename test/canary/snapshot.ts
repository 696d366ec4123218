import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything about a folder that shows whether anybody was there: bytes, modes and links, and when
 * each was last changed. A file that came and went again shows in its folder's time.
 */
export function snapshot(folder: string): readonly string[] {
  return describe(folder, '.').sort()
}

function describe(folder: string, path: string): string[] {
  const place = join(folder, path)
  const { mode, mtimeNs, ctimeNs } = lstatSync(place, { bigint: true })
  const line = `${path} ${mode.toString(8)} ${mtimeNs} ${ctimeNs}`
  switch (Number(mode) & 0o170_000) {
    case 0o040_000:
      return [line, ...readdirSync(place).flatMap((name) => describe(folder, join(path, name)))]
    case 0o120_000:
      return [`${line} -> ${readlinkSync(place)}`]
    case 0o100_000:
      return [`${line} ${createHash('sha256').update(readFileSync(place)).digest('hex')}`]
    default:
      return [line]
  }
}
