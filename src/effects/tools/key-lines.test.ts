import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { redactByLine } from '../guards/redaction.ts'
import { LOOKED_AT_BYTES_MAX, withoutKeyLines } from './key-lines.ts'
import { FILE_BYTES_MAX } from './read-tools.ts'
import type { ToolContext } from './tool.ts'

let workspace: string

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'slipway-key-lines-'))
})

afterEach(() => rmSync(workspace, { recursive: true, force: true }))

const clean = (found: string) => {
  const outputs = { cleanByLine: (text: string) => redactByLine(text) } as ToolContext['outputs']
  return withoutKeyLines(found, { workspace, outputs })
}

const DATA = 'c29tZSBkYXRhIHRoYXQgaXMgbm8ga2V5IGF0IGFsbCwgYnV0IGxvbmcK'
const { privateKey } = generateKeyPairSync('ed25519')
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A file of so many bytes, with that line at its start. */
function write(name: string, bytes: number): string {
  writeFileSync(join(workspace, name), `${DATA}\n`.padEnd(bytes, '.'))
  return `${name}:1:${DATA}`
}

function writeKey(): string {
  writeFileSync(join(workspace, 'key.pem'), PEM)
  return `key.pem:2:${PEM.split('\n')[1]}`
}

const QUARTER = LOOKED_AT_BYTES_MAX / 4

test.each([
  ['within what is looked at', QUARTER - 1, DATA],
  ['beyond it, where no line is shown that could be of a key', QUARTER, '[redacted]'],
])('a search is clean %s', async (_, bytes, shown) => {
  const large = ['a', 'b', 'd'].map((name) => write(`${name}.txt`, QUARTER))
  const first = [...large, write('e.txt', bytes)]
  const found = [...first, write('c.txt', 100), writeKey(), 'c.txt:9:const x = 1']
  expect((await clean(found.join('\n'))).split('\n')).toEqual([
    ...first,
    `c.txt:1:${shown}`,
    'key.pem:2:[redacted]',
    'c.txt:9:const x = 1',
  ])
})

test.each([
  ['in quotes', (line: string) => `    "${line}\\n" +`],
  ['as a comment', (line: string) => `  # ${line}`],
  ['in a shell', (line: string) => `'${line}' \\`],
])('a line of a key is not shown %s either', async (_, quoted) => {
  const lines = PEM.trim().split('\n').map(quoted)
  writeFileSync(join(workspace, 'key.txt'), lines.join('\n'))
  expect(await clean(`key.txt:2:${lines[1]}`)).toMatch(/^key\.txt:2:\W*\[redacted\]\W*$/)
})

test.each([
  ['in one line', (pem: string) => pem.replaceAll(/(?<=[A-Za-z0-9+/])\n(?=[A-Za-z0-9+/])/g, '')],
  ['in base64', (pem: string) => Buffer.from(pem).toString('base64').replaceAll(/.{76}/g, '$&\n')],
])('a line of a key is not shown %s either', async (_, put) => {
  const { privateKey: longer } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const text = put(longer.export({ type: 'pkcs8', format: 'pem' }).toString())
  writeFileSync(join(workspace, 'key.txt'), text)
  const line = text.split('\n')[1]
  expect(line?.length).toBeGreaterThan(64)
  expect(await clean(`key.txt:2:${line}`)).toBe('key.txt:2:[redacted]')
})

test('of a file that cannot be looked at, no line is shown that could be of a key', async () => {
  const large = write('large.txt', FILE_BYTES_MAX + 1)
  const largest = write('largest.txt', FILE_BYTES_MAX)
  expect(await clean(`${largest}\n${large}`)).toBe(`${largest}\nlarge.txt:1:[redacted]`)
})
