/** Numbers of an architecture: its name for the kernel, and the system calls that are refused. */
interface Architecture {
  readonly audit: number
  /** From here on, numbers are those of a second interface to the same calls. */
  readonly foreignFrom: number
  readonly refused: Readonly<Record<string, number>>
}

/**
 * What no build and no test needs: the keys of whoever started us, which no namespace hides, and
 * parts of the kernel through which sandboxes are broken out of.
 */
const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = {
  x64: {
    audit: 0xc000_003e,
    foreignFrom: 0x4000_0000,
    refused: {
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      open_by_handle_at: 304,
      bpf: 321,
      userfaultfd: 323,
      io_uring_setup: 425,
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    foreignFrom: 0xffff_ffff,
    refused: {
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      perf_event_open: 241,
      open_by_handle_at: 265,
      bpf: 280,
      userfaultfd: 282,
      io_uring_setup: 425,
    },
  },
}

const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_AT_LEAST = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff_0000
/** The error ENOSYS: programs take another way where a call does not exist. */
const REFUSE = 0x0005_0000 | 38
const CALL_OFFSET = 0
const ARCHITECTURE_OFFSET = 4

/** A filter for the kernel, or undefined for an architecture whose numbers we do not know. */
export function makeSystemCallFilter(arch: NodeJS.Architecture = process.arch): Buffer | undefined {
  const architecture = ARCHITECTURES[arch]
  if (architecture === undefined) return undefined
  const { audit, foreignFrom, refused } = architecture
  const numbers = Object.values(refused)
  const toRefusal = (from: number) => numbers.length + 1 - from
  const program: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    // A program of another architecture has other numbers for the same calls.
    [JUMP_EQUAL, 0, toRefusal(-2), audit],
    [LOAD, 0, 0, CALL_OFFSET],
    [JUMP_AT_LEAST, toRefusal(0), 0, foreignFrom],
    ...numbers.map((number, i): [number, number, number, number] => [
      JUMP_EQUAL,
      toRefusal(i + 1),
      0,
      number,
    ]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE],
  ]
  const bytes = Buffer.alloc(8 * program.length)
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * i)
    bytes.writeUInt8(ifTrue, 8 * i + 2)
    bytes.writeUInt8(ifFalse, 8 * i + 3)
    bytes.writeUInt32LE(value, 8 * i + 4)
  }
  return bytes
}
