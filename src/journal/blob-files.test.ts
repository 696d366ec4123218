import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
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

test.each<[string, (bytes: Buffer) => Uint8Array]>([
  ['emptied', () => Buffer.alloc(0)],
  ['cut short', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ['changed', (bytes) => bytes.map((byte, i) => (i === 10 ? byte ^ 0xff : byte))],
  ['replaced by another blob', () => deflateSync('something else')],
])('content whose file was %s is stored again', async (_, damage) => {
  const blobs = openBlobFiles(folder)
  const content = 'content '.repeat(100)
  const ref = await blobs.put(content)
  const [file = ''] = filesIn()
  writeFileSync(file, damage(readFileSync(file)))
  expect(await blobs.put(content)).toEqual(ref)
  expect(Buffer.from(await blobs.get(ref)).toString()).toBe(content)
  expect(filesIn()).toEqual([file])
})

test('a write that fails leaves nothing behind, and the next one succeeds', async () => {
  const content = 'content'
  const ref = await openBlobFiles(folder).put(content)
  const [file = ''] = filesIn()
  rmSync(file)
  // A folder in the place of the file: the draft is written and cannot be given its name.
  mkdirSync(join(file, 'in-the-way'), { recursive: true })
  const blobs = openBlobFiles(folder)
  await expect(blobs.put(content)).rejects.toThrow()
  expect(filesIn()).toEqual([])
  rmSync(file, { recursive: true })
  expect(await blobs.put(content)).toEqual(ref)
  expect(filesIn()).toEqual([file])
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
