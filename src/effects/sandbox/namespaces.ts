import { closeSync, openSync, readlinkSync } from 'node:fs'
import type { Processes } from '../process/processes.ts'
import { BubblewrapStatus } from './bubblewrap-status.ts'
import { FREE_PORTS, lowPort } from './low-port.ts'

/** Namespaces by their name in /proc and the option of nsenter. */
const NAMESPACES = [
  ['user', '--user'],
  ['mnt', '--mount'],
  ['net', '--net'],
  ['ipc', '--ipc'],
  ['uts', '--uts'],
] as const

/** Of 16 KiB each; the kernel's own bound of 32,000 is half a gigabyte. */
const MESSAGE_QUEUES_MAX = 256

const SETUP_MS_MAX = 10_000

/** Namespaces that exist for as long as we hold them open; no process has to live in them. */
export interface Namespaces {
  /** What to put before a command so that it runs in them. */
  readonly enter: readonly string[]
  close(): void
}

interface NamespaceSettings {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What all commands in them may have of memory that belongs to no process. */
  readonly memoryBytesMax: number
  /** The ports that commands in them listen on, be they such as else only root may. */
  readonly ports: readonly number[]
}

/** Has bubblewrap make namespaces, and holds them open. Rejects when that is impossible here. */
export async function openNamespaces(
  processes: Processes,
  settings: NamespaceSettings,
): Promise<Namespaces> {
  const status = new BubblewrapStatus()
  const done = new AbortController()
  let first = 0
  let files: number[] | Error | undefined
  let isReady = false
  // Either may be heard first.
  const openWhenReady = () => {
    if (!isReady || first === 0) return
    files ??= openFiles(first)
    done.abort()
  }
  status.onFirst = (pid) => {
    first = pid
    openWhenReady()
  }
  const lowest = lowPort(settings.ports)
  // An option that not every installation of bubblewrap takes.
  const power = lowest === undefined ? [] : ['--cap-add', 'CAP_NET_ADMIN']
  const setup = [
    boundSharedMemory(settings.memoryBytesMax),
    ...(lowest === undefined ? [] : [freePorts(lowest)]),
    'echo ready',
    'sleep 60',
  ]
  const ended = await processes.run(
    {
      // It prints when everything is mounted, and is ended when we have the files.
      argv: ['bwrap', '--args', '3', '--json-status-fd', '4', '--', 'sh', '-c', setup.join('; ')],
      cwd: '/',
      env: settings.env,
      timeoutMs: SETUP_MS_MAX,
      outputBytesMax: 4_096,
      signal: done.signal,
      onOutput: (chunk) => {
        isReady ||= chunk.toString('latin1') === 'ready\n'
        openWhenReady()
      },
    },
    {
      inputs: [[...settings.args, ...power].map((arg) => `${arg}\0`).join('')],
      onStatus: (chunk) => status.add(chunk),
      end: () => status.end(),
    },
  )
  if (!Array.isArray(files)) {
    throw files ?? new Error(`bubblewrap could not start: ${ended.stderr.toString().trim()}`)
  }
  const held = files
  const enter = NAMESPACES.map(([, option], i) => `${option}=/proc/${process.pid}/fd/${held[i]}`)
  return {
    enter: ['nsenter', '--preserve-credentials', ...enter, '--'],
    close: () => held.splice(0).forEach((file) => void closeSync(file)),
  }
}

/**
 * Bounds segments and messages that processes leave in the namespace, where the kernel lets us: it
 * does from 6.8 on. What it is asked for is checked first: the machine's own must not be changed.
 */
function boundSharedMemory(bytesMax: number): string {
  const ours = readlinkSync('/proc/self/ns/ipc')
  const pages = `$((${bytesMax} / $(getconf PAGESIZE || echo 4096)))`
  const set = `echo ${pages} > /proc/sys/kernel/shmall; echo ${MESSAGE_QUEUES_MAX} > /proc/sys/kernel/msgmni`
  return `[ "$(readlink /proc/self/ns/ipc)" = '${ours}' ] || { ${set}; } 2>/dev/null`
}

/** Lets everybody listen on ports from this one on, in a network that is not the machine's own. */
function freePorts(portMin: number): string {
  const ours = readlinkSync('/proc/self/ns/net')
  const set = `echo ${portMin} > /proc/sys/${FREE_PORTS.replaceAll('.', '/')}`
  return `[ "$(readlink /proc/self/ns/net)" = '${ours}' ] || { ${set}; } 2>/dev/null`
}

function openFiles(pid: number): number[] | Error {
  const files: number[] = []
  try {
    for (const [name] of NAMESPACES) files.push(openSync(`/proc/${pid}/ns/${name}`, 'r'))
    return files
  } catch (error) {
    for (const file of files) closeSync(file)
    return error as Error
  }
}
