import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBlobFiles } from './blob-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-blobs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const filesIn = () =>
  (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

test('what was put can be got, text and bytes, empty and large', async () => {
  const blobs = openBlobFiles(folder)
  for (const content of ['', 'ünï 日本\n', 'x'.repeat(5_000_000)]) {
    const ref = await blobs.put(content)
    expect(ref.bytes).toBe(Buffer.byteLength(content))
    expect(Buffer.from(await blobs.get(ref)).toString()).toBe(content)
  }
  const bytes = Uint8Array.from([0, 255, 128, 10])
  expect(Uint8Array.from(await blobs.get(await blobs.put(bytes)))).toEqual(bytes)
})

test('the same content is stored once, compressed, for its owner alone', async () => {
  const blobs = openBlobFiles(folder)
  const content = 'the same line of test output\n'.repeat(10_000)
  const refs = await Promise.all([blobs.put(content), blobs.put(content), blobs.put(content)])
  expect(new Set(refs.map((ref) => ref.sha256)).size).toBe(1)
  const [file = '', ...others] = filesIn()
  expect(others).toEqual([])
  expect(readFileSync(file).length).toBeLessThan(content.length / 50)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a damaged or missing blob is refused, never given back', async () => {
  const blobs = openBlobFiles(folder)
  const ref = await blobs.put('content'.repeat(100))
  const [file = ''] = filesIn()
  const bytes = readFileSync(file)
  bytes[10] = (bytes[10] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
  await expect(blobs.get(ref)).rejects.toThrow()
  rmSync(file)
  await expect(blobs.get(ref)).rejects.toThrow()
  expect(existsSync(file)).toBe(false)
})
