import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** File systems in memory, by the magic number that statfs gives. */
const IN_MEMORY: readonly number[] = [0x01021994, 0x858458f6]

/** A fresh folder on a real disk; refuses one in memory, where being durable costs nothing. */
export function makeFolder(name: string): string {
  if (process.platform === 'linux' && IN_MEMORY.includes(statfsSync(tmpdir()).type >>> 0)) {
    throw new Error(`${tmpdir()} is in memory. Set TMPDIR to a folder on a disk.`)
  }
  return mkdtempSync(join(tmpdir(), `slipway-bench-${name}-`))
}

/** Removes a folder and all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
