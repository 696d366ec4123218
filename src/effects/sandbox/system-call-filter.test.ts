import { describe, expect, test } from 'vitest'
import { makeSystemCallFilter } from './system-call-filter.ts'

const X64 = 0xc000_003e
const I386 = 0x4000_0003
const ALLOWED = 0x7fff_0000
const NO_SUCH_CALL = 0x0005_0026

/** Runs the filter as the kernel would, for the instructions that it has. */
function judge(
  filter: Buffer,
  call: number,
  architecture: number,
  [level, option]: readonly [number, number] = [0, 0],
): number {
  const words: Readonly<Record<number, number>> = {
    0: call,
    4: architecture,
    24: level,
    32: option,
  }
  for (let i = 0, loaded = 0; ; i += 1) {
    const [code, value] = [filter.readUInt16LE(8 * i), filter.readUInt32LE(8 * i + 4)]
    const jump = (holds: boolean) => filter.readUInt8(8 * i + (holds ? 2 : 3))
    if (code === 0x06) return value
    if (code === 0x20) loaded = words[value] ?? Number.NaN
    else if (code === 0x15) i += jump(loaded === value)
    else if (code === 0x35) i += jump(loaded >= value)
    else throw new Error(`the filter has an instruction ${code}`)
  }
}

describe('the filter of system calls', () => {
  const filter = makeSystemCallFilter({}, 'x64') ?? Buffer.alloc(0)

  test('refuses what it names, and nothing else', () => {
    const refused = new Set([248, 249, 250, 298, 304, 321, 323, 425])
    for (let call = 0; call < 500; call += 1) {
      expect(judge(filter, call, X64), String(call)).toBe(
        refused.has(call) ? NO_SUCH_CALL : ALLOWED,
      )
    }
  })

  test('refuses other interfaces to the same calls', () => {
    expect(judge(filter, 1, I386)).toBe(NO_SUCH_CALL)
    expect(judge(filter, 0x4000_0000 + 1, X64)).toBe(NO_SUCH_CALL)
  })

  test('keeps the buffers of sockets where it is asked to, and says that it did not', () => {
    const SETSOCKOPT = 54
    const keeping = makeSystemCallFilter({ fixedBuffers: true }, 'x64') ?? Buffer.alloc(0)
    for (const level of [0, 1, 6, 41]) {
      for (let option = 0; option < 40; option += 1) {
        const isBuffer = level === 1 && (option === 7 || option === 8)
        const at = [level, option] as const
        expect(judge(keeping, SETSOCKOPT, X64, at)).toBe(isBuffer ? 0x0005_0000 : ALLOWED)
        expect(judge(keeping, SETSOCKOPT + 1, X64, at)).toBe(ALLOWED)
        expect(judge(filter, SETSOCKOPT, X64, at)).toBe(ALLOWED)
      }
    }
    expect(judge(keeping, 321, X64)).toBe(NO_SUCH_CALL)
    expect(judge(keeping, 1, I386)).toBe(NO_SUCH_CALL)
  })

  test('does not exist for an architecture whose numbers are not known', () => {
    expect(makeSystemCallFilter({}, 'arm64')).toBeDefined()
    expect(makeSystemCallFilter({}, 's390x')).toBeUndefined()
  })
})
