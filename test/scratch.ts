import { statfsSync } from 'node:fs'

const MEMORY = '/dev/shm'

/** What Linux calls a file system in memory: https://man7.org/linux/man-pages/man2/statfs.2.html */
const TMPFS = 0x01021994

/** All suites together never held a tenth of it. */
const ROOM_BYTES_MIN = 4 * 1024 ** 3

/**
 * Where suites that are not about disks keep what they write: in memory, unless somebody has said
 * where. Git writes many small files, and storing them took a quarter of a scenario's processor time.
 */
export function scratchEnvironment(): Record<string, string> {
  if (process.env.TMPDIR !== undefined) return {}
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY)
    return type === TMPFS && bavail * bsize >= ROOM_BYTES_MIN ? { TMPDIR: MEMORY } : {}
  } catch {
    return {}
  }
}
