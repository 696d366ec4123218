import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  findInside,
  listInside,
  openInside,
  PathGuardError,
  replaceInside,
  writeInside,
} from './path-guard.ts'

let scratch: string
let folder: string

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-path-')))
  folder = join(scratch, 'ws')
  mkdirSync(join(folder, 'deep/er'), { recursive: true })
  mkdirSync(join(folder, '.git'))
  writeFileSync(join(folder, 'file'), 'inside')
  writeFileSync(join(folder, 'deep/er/file'), 'deeper')
  mkdirSync(join(scratch, 'ws-evil'))
  writeFileSync(join(scratch, 'ws-evil/file'), 'outside')
  writeFileSync(join(scratch, 'secret'), 'outside')
})

afterEach(() => rmSync(scratch, { recursive: true }))

async function read(path: string): Promise<string> {
  const file = await openInside(folder, path, 'read')
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The two ways to change a file. */
const CHANGES = {
  async write(path: string, text: string): Promise<void> {
    const file = await openInside(folder, path, 'write')
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
  },
  replace: (path: string, text: string) => replaceInside(folder, path, text),
}
const { write, replace } = CHANGES
const WAYS = Object.keys(CHANGES) as (keyof typeof CHANGES)[]

const link = (target: string, path: string) => symlinkSync(target, join(folder, path))

describe('reading', () => {
  test.each(['file', './file', 'deep/../file', 'deep//er/./../../file', 'deep/er/../../file'])(
    'finds %j',
    async (path) => expect(await read(path)).toBe('inside'),
  )

  test('finds an absolute path below the folder, by each of its names', async () => {
    expect(await read(join(folder, 'file'))).toBe('inside')
    symlinkSync(folder, join(scratch, 'alias'))
    const aliased = await openInside(`${scratch}/alias/`, `${scratch}/alias/file`, 'read')
    expect(await aliased.readFile('utf8')).toBe('inside')
    await aliased.close()
  })

  test('follows links that stay inside', async () => {
    link('deep/er', 'short')
    link('../../file', 'deep/er/up')
    link(join(folder, 'deep'), 'absolute')
    link('short', 'twice')
    expect(await read('short/file')).toBe('deeper')
    expect(await read('twice/../er/up')).toBe('inside')
    expect(await read('absolute/er/up')).toBe('inside')
  })

  test.each([
    ['../secret', 'upwards'],
    ['deep/../../secret', 'upwards from below'],
    ['../ws-evil/file', 'to a sibling'],
    ['../ws/file', 'out and in again'],
    ['', 'to nothing'],
    ['.', 'to the folder itself'],
    ['deep', 'to a folder'],
    ['fi\0le', 'with a NUL'],
    ['x'.repeat(5_000), 'without end'],
    ['deep/../'.repeat(500), 'too long'],
  ])('refuses %j, which leads %s', async (path) => {
    await expect(openInside(folder, path, 'read')).rejects.toThrow(PathGuardError)
  })

  test.each(['/etc/passwd', '/', 'SIBLING', 'PARENT', 'DOTS'])(
    'refuses the absolute path %s',
    async (name) => {
      const paths: Record<string, string> = {
        SIBLING: `${folder}-evil/file`,
        PARENT: scratch,
        DOTS: `${folder}/../secret`,
      }
      await expect(openInside(folder, paths[name] ?? name, 'read')).rejects.toThrow(PathGuardError)
    },
  )

  test('refuses links that lead out, at every place of a path', async () => {
    link('../secret', 'file-out')
    link('..', 'folder-out')
    link(scratch, 'absolute-out')
    link('/proc/self/root', 'root')
    link('deep/er/../../..', 'winding')
    link('loop', 'loop')
    const paths = ['file-out', 'folder-out/secret', 'absolute-out/secret', 'winding/secret', 'loop']
    for (const path of [...paths, 'root/etc/passwd', 'loop/x']) {
      await expect(openInside(folder, path, 'read')).rejects.toThrow(PathGuardError)
    }
  })

  test('waits for no pipe', async () => {
    execFileSync('/usr/bin/mkfifo', [join(folder, 'pipe')])
    await expect(openInside(folder, 'pipe', 'read')).rejects.toThrow(/no plain file/)
    await expect(openInside(folder, 'pipe', 'write')).rejects.toThrow(/no plain file/)
    await expect(replace('pipe', 'x')).rejects.toThrow()
  })

  test('says what is not there, by the path that it was given', async () => {
    const missing = openInside(folder, 'deep/$& missing', 'read')
    await expect(missing).rejects.toMatchObject({ code: 'ENOENT', path: 'deep/$& missing' })
    await expect(missing).rejects.toThrow("'deep/$& missing'")
    await expect(openInside(folder, 'file/x', 'read')).rejects.toMatchObject({ code: 'ENOTDIR' })
    await expect(openInside(folder, 'file/..', 'list')).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  test('goes no deeper than it has files to open', async () => {
    mkdirSync(join(folder, ...Array(140).fill('d')), { recursive: true })
    await expect(openInside(folder, 'd/'.repeat(140), 'list')).rejects.toThrow(/too deep/)
    await (await openInside(folder, 'd/../'.repeat(140), 'list')).close()
  })
})

describe('writing', () => {
  test('makes, changes and empties files', async () => {
    await replace('new', 'one')
    await replace('new', '2')
    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('2')
    await write('file', 'IN')
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('INside')
  })

  test.each(WAYS)('to %s follows no last link', async (way) => {
    link('deep/er/file', 'inside-link')
    link('../secret', 'out')
    link('../made', 'dangling')
    for (const path of ['inside-link', 'out', 'dangling', 'out/']) {
      await expect(CHANGES[way](path, 'x')).rejects.toThrow(PathGuardError)
    }
    expect(readFileSync(join(scratch, 'secret'), 'utf8')).toBe('outside')
    expect(readdirSync(scratch)).not.toContain('made')
  })

  test.each(WAYS)('to %s spares what has another name', async (way) => {
    linkSync(join(scratch, 'secret'), join(folder, 'hard'))
    await expect(CHANGES[way]('hard', 'x')).rejects.toThrow(/another name/)
    expect(readFileSync(join(scratch, 'secret'), 'utf8')).toBe('outside')
    expect(await read('hard')).toBe('outside')
  })

  test('removes what a kill while replacing has left, and leaves nothing itself', async () => {
    const before = readdirSync(folder)
    await expect(replace('file', undefined as never)).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(before)
    const draft = `.slipway-${createHash('sha256').update('file').digest('hex').slice(0, 16)}.draft`
    symlinkSync('../secret', join(folder, draft))
    await replace('file', 'new')
    expect(readdirSync(folder)).toEqual(before)
    expect(await read('file')).toBe('new')
    expect(readFileSync(join(scratch, 'secret'), 'utf8')).toBe('outside')
  })

  test('never leads into a .git folder', async () => {
    link('.git', 'alias')
    link(join(folder, '.git'), 'absolute')
    mkdirSync(join(folder, '.GIT'), { recursive: true })
    for (const path of ['.git/config', 'alias/config', 'absolute/config', '.GIT/x', 'deep/.git']) {
      await expect(replace(path, 'x')).rejects.toThrow(PathGuardError)
    }
    expect(readdirSync(join(folder, '.git'))).toEqual([])
  })

  test('makes folders where that is asked for, and none for what cannot be written', async () => {
    link('deep', 'alias')
    link('..', 'out')
    await writeInside(folder, 'alias/a//b/./c', 'new')
    expect(readFileSync(join(folder, 'deep/a/b/c'), 'utf8')).toBe('new')
    for (const path of ['x/../y', 'x/.git/y', 'out/x/y', `x/${'y/'.repeat(200)}z`]) {
      await expect(writeInside(folder, path, 'x')).rejects.toThrow(PathGuardError)
    }
    expect(readdirSync(folder)).not.toContain('x')
    expect(readdirSync(scratch).sort()).toEqual(['secret', 'ws', 'ws-evil'])
  })

  test('does not make folders', async () => {
    await expect(replace('no/such', 'x')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(replace('deep', 'x')).rejects.toMatchObject({ code: 'EISDIR' })
  })
})

test('listing opens folders inside and nothing else', async () => {
  link('deep', 'alias')
  link('..', 'out')
  for (const path of ['', '.', 'deep', 'alias/er', folder]) {
    const handle = await openInside(folder, path, 'list')
    expect((await handle.stat()).isDirectory()).toBe(true)
    await handle.close()
  }
  await expect(openInside(folder, 'out', 'list')).rejects.toThrow(PathGuardError)
  await expect(openInside(folder, 'file', 'list')).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('listing names what is in a folder', async () => {
  link('deep', 'alias')
  const listed = await listInside(folder, 'alias/..')
  expect(listed.map(({ name }) => name).sort()).toEqual(['.git', 'alias', 'deep', 'file'])
  expect((await listInside(folder, 'alias/er')).map(({ name }) => name)).toEqual(['file'])
  await expect(listInside(folder, '..')).rejects.toThrow(PathGuardError)
  await expect(listInside(folder, 'file')).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('finding says where something is, without links', async () => {
  link('deep', 'alias')
  link('..', 'out')
  const found = ['', 'file', 'deep/..', 'alias/er', 'alias/er/file', join(folder, 'deep')]
  expect(await Promise.all(found.map((path) => findInside(folder, path)))).toEqual([
    '.',
    'file',
    '.',
    'deep/er',
    'deep/er/file',
    'deep',
  ])
  for (const path of ['..', 'out', 'out/secret', '/etc']) {
    await expect(findInside(folder, path)).rejects.toThrow(PathGuardError)
  }
  await expect(findInside(folder, 'none')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('leaves no file open', async () => {
  if (process.platform !== 'linux') return
  link('..', 'out')
  const count = () => readdirSync('/proc/self/fd').length
  const before = count()
  for (const path of ['deep/er/file', 'out/secret', 'missing', 'deep/er/../x', 'deep', 'file/x']) {
    for (const purpose of ['read', 'write', 'list'] as const) {
      const handle = await openInside(folder, path, purpose).catch(() => undefined)
      await handle?.close()
    }
    await replace(path, 'x').catch(() => {})
    await writeInside(folder, `${path}/new/x`, 'x').catch(() => {})
    await listInside(folder, path).catch(() => {})
    await findInside(folder, path).catch(() => {})
  }
  expect(count()).toBe(before)
})

describe('where a folder is reached by its name alone, as on macOS', () => {
  const { platform } = process
  beforeEach(() => Object.defineProperty(process, 'platform', { value: 'darwin' }))
  afterEach(() => Object.defineProperty(process, 'platform', { value: platform }))

  test('the same is read, listed, found and written', async () => {
    link('deep', 'alias')
    expect(await read('alias/er/../../file')).toBe('inside')
    expect((await listInside(folder, 'alias')).map(({ name }) => name)).toEqual(['er'])
    expect(await findInside(folder, 'alias/er/file')).toBe('deep/er/file')
    await replace('alias/er/file', 'replaced')
    await writeInside(folder, 'alias/new/file', 'made')
    expect(readFileSync(join(folder, 'deep/er/file'), 'utf8')).toBe('replaced')
    expect(readFileSync(join(folder, 'deep/new/file'), 'utf8')).toBe('made')
  })

  test('nothing leads out', async () => {
    link('..', 'out')
    for (const path of ['..', 'out', 'deep/../../ws-evil']) {
      await expect(listInside(folder, path)).rejects.toThrow(PathGuardError)
      await expect(findInside(folder, path)).rejects.toThrow(PathGuardError)
      await expect(writeInside(folder, `${path}/new/x`, 'x')).rejects.toThrow(PathGuardError)
    }
    expect(readdirSync(join(scratch, 'ws-evil'))).toEqual(['file'])
  })
})
