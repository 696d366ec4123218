import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** Bytes in a block of `stat`. */
const BLOCK_BYTES = 512
/** What an ordinary kernel gives a socket's buffer. */
const SOCKET_BYTES = 212_992

/**
 * Memory behind files that have no name, such as memfd, which a process holds and has not mapped.
 * Two that hold the same file hold it once: `seen` remembers which were counted.
 */
export function unnamedFileBytes(pid: number, seen: Set<string>): number {
  let bytes = 0
  for (const file of list(`/proc/${pid}/fd`)) {
    const path = `/proc/${pid}/fd/${file}`
    const target = attempt(() => readlinkSync(path)) ?? ''
    if (!target.startsWith('/memfd:') && !target.startsWith('/dev/zero (deleted)')) continue
    const stats = attempt(() => statSync(path))
    const key = `${stats?.dev}.${stats?.ino}`
    if (stats === undefined || seen.has(key)) continue
    seen.add(key)
    bytes += stats.blocks * BLOCK_BYTES
  }
  return bytes
}

/**
 * What the buffers of all sockets in the network of a process can hold: what waits in those of TCP,
 * and for each other the buffer that it has by default. Sockets on their way in a message count.
 */
export function socketBytes(pid: number): number {
  const read = (name: string) =>
    attempt(() => readFileSync(`/proc/${pid}/net/${name}`, 'latin1')) ?? ''
  const used = Number(/^sockets: used (\d+)/m.exec(read('sockstat'))?.[1] ?? 0)
  let waiting = 0
  let counted = 0
  // `sl local remote state tx_queue:rx_queue …`, in hexadecimal.
  for (const row of `${read('tcp')}${read('tcp6')}`.matchAll(/ ([\dA-F]{8}):([\dA-F]{8}) /g)) {
    counted += 1
    waiting += Number.parseInt(row[1] ?? '', 16) + Number.parseInt(row[2] ?? '', 16)
  }
  return waiting + Math.max(0, used - counted) * bufferBytes()
}

/** Read once: it is the machine's, and nobody in a sandbox can change it. */
let defaultBufferBytes = 0

function bufferBytes(): number {
  if (defaultBufferBytes === 0) {
    const text = attempt(() => readFileSync('/proc/sys/net/core/wmem_default', 'latin1'))
    defaultBufferBytes = Number(text) || SOCKET_BYTES
  }
  return defaultBufferBytes
}

function list(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder)) ?? []
}

/** Undefined for what has ended meanwhile. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
