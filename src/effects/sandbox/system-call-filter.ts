/** Numbers of an architecture: its name for the kernel, and the system calls that are refused. */
interface Architecture {
  readonly audit: number
  /** From here on, numbers are those of a second interface to the same calls. */
  readonly foreignFrom: number
  readonly refused: Readonly<Record<string, number>>
  readonly setsockopt: number
}

/**
 * What no build and no test needs: the keys of whoever started us, which no namespace hides, and
 * parts of the kernel through which sandboxes are broken out of.
 */
const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = {
  x64: {
    audit: 0xc000_003e,
    foreignFrom: 0x4000_0000,
    setsockopt: 54,
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
    setsockopt: 208,
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
/** The error that is none: the call is not made, and the program is told that it was. */
const PRETEND = 0x0005_0000
const CALL_OFFSET = 0
const ARCHITECTURE_OFFSET = 4
/** The lower halves of the second and the third argument. */
const LEVEL_OFFSET = 24
const OPTION_OFFSET = 32
const SOL_SOCKET = 1
const SO_SNDBUF = 7
const SO_RCVBUF = 8

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

/**
 * A filter for the kernel, or undefined for an architecture whose numbers we do not know. With
 * `fixedBuffers`, sockets keep the buffers that they have by default: who counts sockets knows then
 * what they can hold. A program may wish for another size and never learn that it did not get it,
 * as with any size that is too large.
 */
export function makeSystemCallFilter(
  { fixedBuffers = false }: { readonly fixedBuffers?: boolean } = {},
  arch: NodeJS.Architecture = process.arch,
): Buffer | undefined {
  const architecture = ARCHITECTURES[arch]
  if (architecture === undefined) return undefined
  const { audit, foreignFrom, refused, setsockopt } = architecture
  const numbers = Object.values(refused)
  const buffers = fixedBuffers ? keepBuffers(setsockopt) : []
  const toRefusal = (from: number) => numbers.length + buffers.length + 1 - from
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    // A program of another architecture has other numbers for the same calls.
    [JUMP_EQUAL, 0, toRefusal(-2), audit],
    [LOAD, 0, 0, CALL_OFFSET],
    [JUMP_AT_LEAST, toRefusal(0), 0, foreignFrom],
    ...numbers.map((number, i): Instruction => [JUMP_EQUAL, toRefusal(i + 1), 0, number]),
    ...buffers,
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, PRETEND],
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

/** Stands before the three returns: what goes on is allowed, and two further is the pretence. */
function keepBuffers(setsockopt: number): readonly Instruction[] {
  return [
    [JUMP_EQUAL, 0, 5, setsockopt],
    [LOAD, 0, 0, LEVEL_OFFSET],
    [JUMP_EQUAL, 0, 3, SOL_SOCKET],
    [LOAD, 0, 0, OPTION_OFFSET],
    [JUMP_EQUAL, 3, 0, SO_SNDBUF],
    [JUMP_EQUAL, 2, 0, SO_RCVBUF],
  ]
}
