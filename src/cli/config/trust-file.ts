import { randomBytes } from 'node:crypto'
import { lstat, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { ReadFile } from './config-file.ts'
import { type Environment, trustFilePath } from './place.ts'

const FILES_MAX = 1_000
const FILE_BYTES_MAX = 1024 * 1024
const OTHERS_WRITE = 0o022

const CONTENT = z.strictObject({
  version: z.literal(1),
  /** The hash of each trusted file, by its path; the newest last. */
  files: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
})

type Files = Readonly<Record<string, string>>

/** Whether the user trusts a file with this content at this place. */
export async function isTrusted(file: ReadFile, environment: Environment): Promise<boolean> {
  const files = await readFiles(trustFilePath(environment))
  const path = await realpath(file.path)
  return Object.hasOwn(files, path) && files[path] === file.hash
}

/** Remembers that the user trusts a file as it was read; a change to it ends that. */
export async function trustFile(file: ReadFile, environment: Environment): Promise<void> {
  const path = await realpath(file.path)
  await change(trustFilePath(environment), ({ [path]: _, ...others }) => ({
    ...Object.fromEntries(Object.entries(others).slice(1 - FILES_MAX)),
    [path]: file.hash,
  }))
}

/** Forgets a file. */
export async function distrustFile(file: ReadFile, environment: Environment): Promise<void> {
  const path = await realpath(file.path)
  await change(trustFilePath(environment), ({ [path]: _, ...others }) => others)
}

/** A trust file that is missing, damaged or open to others trusts nothing. */
async function readFiles(path: string): Promise<Files> {
  try {
    const stats = await lstat(path)
    const isOwn = process.getuid === undefined || stats.uid === process.getuid()
    const isClosed = (stats.mode & OTHERS_WRITE) === 0
    if (!stats.isFile() || !isOwn || !isClosed || stats.size > FILE_BYTES_MAX) return {}
    return CONTENT.parse(JSON.parse(await readFile(path, 'utf8'))).files
  } catch {
    return {}
  }
}

async function change(path: string, how: (files: Files) => Files): Promise<void> {
  const content = { version: 1, files: how(await readFiles(path)) }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Whole or not at all: half a file would trust nothing, and a kill may come at any time.
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(content, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
