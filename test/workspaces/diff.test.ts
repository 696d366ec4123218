import { expect, test } from 'vitest'
import { redact } from '../../src/effects/guards/redaction.ts'
import { readDiff } from '../../src/effects/workspace/diff.ts'
import { openGitWorld, writeFiles } from '../git/world.ts'

const OWNER = { run: 'r1', story: 's1' }
const PASSWORD = 'POSTGRES_PASSWORD=devpass1\n'
const OWN = "const MARK = '[redacted]'\n"

/** The diff of a story that writes these files, as it is shown. */
async function diffOf(
  files: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>> = { 'db.env': PASSWORD, 'own.ts': OWN },
  secrets: readonly string[] = [],
) {
  const world = await openGitWorld(before)
  try {
    const { folder } = await world.workspaces.prepare(OWNER, world.base)
    writeFiles(folder, files)
    const { commit: to, base: from } = await world.workspaces.checkpoint(OWNER)
    const diff = await readDiff(world.git, world.repositories, { from, to }, secrets)
    return redact(diff, secrets)
  } finally {
    await world.close()
  }
}

test.each([
  ['in the place of a value', { 'db.env': redact(PASSWORD) }, '[db.env: '],
  ['in a new file', { 'new/db.env': redact(PASSWORD) }, '[new/db.env: '],
  ['in two files', { 'db.env': redact(PASSWORD), 'own.ts': OWN + OWN }, '[db.env, own.ts: '],
])('a diff says where the mark of a secret was written %s', async (_, files, beginning) => {
  const diff = await diffOf(files)
  expect(diff.startsWith(beginning)).toBe(true)
  expect(diff).not.toContain('devpass1')
})

test.each(['größe.env', 'a "b".env', 'tab\there.env', 'with space.env'])(
  'a diff says so of a file with an unusual name: %s',
  async (name) => {
    const diff = await diffOf({ [name]: redact(PASSWORD) }, { [name]: PASSWORD })
    expect(diff).toContain('itself was written')
  },
)

test('a diff says so where the file says the mark elsewhere no more', async () => {
  const before = { 'db.env': `# [redacted]\n${PASSWORD}` }
  const diff = await diffOf({ 'db.env': `# none\n${redact(PASSWORD)}` }, before)
  expect(diff.startsWith('[db.env: ')).toBe(true)
})

test('a diff says so where another line looks like the one that is lost', async () => {
  const before = { 'c.yml': `example:\n  ${redact(PASSWORD)}db:\n  ${PASSWORD}` }
  const diff = await diffOf({ 'c.yml': `db:\n  ${redact(PASSWORD)}` }, before)
  expect(diff.startsWith('[c.yml: ')).toBe(true)
})

test('a diff says so where a value is known that looks like none', async () => {
  const before = { 'a.txt': '# [redacted]\nthe house on the hill\n' }
  const after = { 'a.txt': '# none\nthe [redacted]\n' }
  const diff = await diffOf(after, before, ['house on the hill'])
  expect(diff.startsWith('[a.txt: ')).toBe(true)
  expect(diff).not.toContain('house')
})

test.each([
  ['a value that is shown as the mark', { 'db.env': 'POSTGRES_PASSWORD=devpass2\n' }],
  ['a line that said the mark before', { 'own.ts': OWN.replace('MARK', 'TEXT') }],
])('a diff says nothing of it for %s', async (_, files) => {
  expect(await diffOf(files)).toMatch(/^ (db\.env|own\.ts) /)
})
