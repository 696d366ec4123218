import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BoundedOutput } from './bounded-output.ts'

describe('bounded output', () => {
  test('keeps everything that fits, and else its beginning and its end', () => {
    const chunk = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(fc.nat(60), fc.array(chunk, { maxLength: 20 }), (bytesMax, chunks) => {
        const output = new BoundedOutput(bytesMax)
        for (const bytes of chunks) output.add(bytes)
        const all = Buffer.concat(chunks)
        const { bytes, droppedBytes } = output.take()
        expect(droppedBytes).toBe(Math.max(0, all.length - bytesMax))
        const gap = Buffer.from(`\n[${droppedBytes} bytes left out]\n`)
        const head = all.subarray(0, Math.floor(bytesMax / 2))
        const tail = all.subarray(all.length - (bytesMax - head.length))
        expect(bytes).toEqual(droppedBytes === 0 ? all : Buffer.concat([head, gap, tail]))
      }),
    )
  })

  test('takes no more memory when it comes byte by byte', () => {
    const output = new BoundedOutput(1_000_000)
    const byte = Buffer.from('a')
    const before = process.memoryUsage()
    for (let i = 0; i < 1_200_000; i += 1) output.add(byte)
    const after = process.memoryUsage()
    const grownBytes = after.rss - before.rss
    expect(grownBytes).toBeLessThan(50_000_000)
    expect(output.take().droppedBytes).toBe(200_000)
  })

  test('can be taken while it goes on', () => {
    const output = new BoundedOutput(4)
    output.add(Buffer.from('ab'))
    expect(output.take().bytes.toString()).toBe('ab')
    output.add(Buffer.from('cdef'))
    expect(output.take().bytes.toString()).toBe('ab\n[2 bytes left out]\nef')
  })
})
