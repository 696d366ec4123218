import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { damagedFile } from './sqlite-fault.ts'

/** A thousand pages, after which SQLite writes them back, and a little. */
const LOG_BYTES = 4_300_000

/** Where less is free, the room is for what happens. */
const FREE_BYTES_MIN = 100 * LOG_BYTES

// The format of the log: https://sqlite.org/fileformat2.html#walformat
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const READ_BYTES = 1 << 20

/** Longer than the times of files are apart that a file system tells from each other. */
const SECOND_LOOK_MS = 50

/**
 * Gives the log its full size at once. A commit that makes a file longer has the file system write
 * down all that anybody changed in it meanwhile, which takes milliseconds next to a busy git; one
 * that writes over what is there waits for its own bytes alone. SQLite reads a log up to the first
 * frame that is none, and begins it anew when it is full, at this size.
 */
export function reserveLog(path: string): void {
  try {
    const { bavail, bsize } = statfsSync(path)
    if (bavail * bsize < FREE_BYTES_MIN) return
    const file = openSync(path, 'r+')
    try {
      const { size } = fstatSync(file)
      if (size < LOG_BYTES) writeSync(file, Buffer.alloc(LOG_BYTES - size), 0, null, size)
      fdatasyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch {
    // It is as durable without, and slower.
  }
}

/**
 * Refuses a log that SQLite would cut off in the midst of what was acknowledged. It takes the first
 * frame that does not hold for the end of the log, where a power failure tore the last write. But a
 * transaction is begun when the one before is durable: where one more follows, the frame was whole.
 */
export async function refuseDamagedLog(database: string): Promise<void> {
  const first = look(database)
  if (first?.damage === undefined) return
  // One that is being written can look like anything. Then SQLite has its index, and cuts nothing.
  await sleep(SECOND_LOOK_MS)
  const second = look(database)
  if (second?.damage !== undefined && second.changedNs === first.changedNs) {
    throw damagedFile(second.damage)
  }
}

interface Finding {
  readonly damage: string | undefined
  readonly changedNs: bigint
}

function look(database: string): Finding | undefined {
  let file: number
  try {
    file = openSync(`${database}-wal`, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const damage = hasContent(database) ? findDamage(file) : findOrphan(file)
    return { damage, changedNs: fstatSync(file, { bigint: true }).mtimeNs }
  } finally {
    closeSync(file)
  }
}

function hasContent(database: string): boolean {
  return (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Looks at a log whose database is gone or empty: SQLite would remove it. */
function findOrphan(file: number): string | undefined {
  return hasFrames(file) ? 'it is gone or empty, and not so its log' : undefined
}

function findDamage(file: number): string | undefined {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = header.readUInt32BE(0)
  const isLittleEndian = magic === MAGIC
  const sum = checksum(header, 0, 24, [0, 0], isLittleEndian)
  if ((isLittleEndian || magic === MAGIC + 1) && isSame(sum, sumAt(header, 24))) {
    return findDamagedFrame(file, header, isLittleEndian)
  }
  // The header is durable before the first frame is written.
  return hasFrames(file) ? 'the header of its log does not hold' : undefined
}

function hasFrames(file: number): boolean {
  for (const chunk of chunks(file, 1)) if (chunk.some((byte) => byte !== 0)) return true
  return false
}

function findDamagedFrame(
  file: number,
  header: Buffer,
  isLittleEndian: boolean,
): string | undefined {
  const pageBytes = header.readUInt32BE(8)
  const frameBytes = FRAME_HEADER_BYTES + (pageBytes === 1 ? 65_536 : pageBytes)
  let number = 0
  let bad: number | undefined
  let isAfterCommit = false
  /** What the next one may continue: the sum that a frame says, and the one that a bad one has. */
  let sums = [sumAt(header, 24)]
  for (const chunk of chunks(file, frameBytes)) {
    for (let at = 0; at < chunk.length; at += frameBytes) {
      number += 1
      const said = sumAt(chunk, at + 16)
      // Other salts: it is of a time before the log was begun anew, or of none.
      const isOurs = chunk.compare(header, 16, 24, at + 8, at + 16) === 0
      const made = isOurs
        ? sums.map((sum) => {
            const start = checksum(chunk, at, at + 8, sum, isLittleEndian)
            return checksum(chunk, at + FRAME_HEADER_BYTES, at + frameBytes, start, isLittleEndian)
          })
        : []
      const holds = chunk.readUInt32BE(at) !== 0 && made.some((sum) => isSame(sum, said))
      if (holds && bad !== undefined && isAfterCommit) {
        return `frame ${bad} of its log does not hold, and a later transaction does`
      }
      if (!holds) bad ??= number
      sums = holds ? [said] : [said, ...made.slice(0, 1)]
      isAfterCommit = chunk.readUInt32BE(at + 4) !== 0
    }
  }
  return undefined
}

/** What follows the header, a whole number of parts at a time. */
function* chunks(file: number, partBytes: number): Generator<Buffer> {
  const buffer = Buffer.alloc(partBytes * Math.ceil(READ_BYTES / partBytes))
  for (let from = HEADER_BYTES; ; from += buffer.length) {
    const bytes = readSync(file, buffer, 0, buffer.length, from)
    yield buffer.subarray(0, bytes - (bytes % partBytes))
    if (bytes < buffer.length) return
  }
}

type Sum = readonly [number, number]

function sumAt(buffer: Buffer, at: number): Sum {
  return [buffer.readInt32BE(at), buffer.readInt32BE(at + 4)]
}

function isSame(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

/** SQLite's checksum of a part of the log, which goes on from that of what came before. */
function checksum(
  buffer: Buffer,
  from: number,
  to: number,
  [first, second]: Sum,
  isLittleEndian: boolean,
): Sum {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  let a = first
  let b = second
  for (let at = from; at < to; at += 8) {
    a = (a + view.getInt32(at, isLittleEndian) + b) | 0
    b = (b + view.getInt32(at + 4, isLittleEndian) + a) | 0
  }
  return [a, b]
}
