import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openToolGround, type ToolGround } from '../../../test/tools/tool-ground.ts'
import { EDIT_TOOLS } from './edit-tools.ts'
import { READ_TOOLS } from './read-tools.ts'
import { answerCalls } from './tool-calls.ts'

const COMPOSE = 'db:\n  - POSTGRES_PASSWORD=devpass1\nurl: postgres://app:devpass1@db/app\n'
/** What a file of the project says itself. */
const OWN = "const MARK = '[redacted]'\nconst LENGTH = 10\n"
const ADVICE = /stands for something that you are not shown.*around it with edit_file/

let ground: ToolGround

beforeEach(async () => {
  ground = await openToolGround('write')
  put('compose.yml', COMPOSE)
  put('own.ts', OWN)
})

afterEach(() => ground.close())

const put = (path: string, text: string | Buffer) =>
  writeFileSync(join(ground.workspace, path), text)
const textOf = (path: string) => readFileSync(join(ground.workspace, path), 'utf8')

async function call(name: string, input: object) {
  const calls = [{ id: '1', name, input }]
  const [answer] = await answerCalls([...READ_TOOLS, ...EDIT_TOOLS], calls, ground.context)
  return answer as NonNullable<typeof answer>
}

const REFUSED = { isError: true, text: expect.stringMatching(ADVICE) }
const DONE = { isError: false }

describe('write_file', () => {
  test('does not put the mark in the place of what it stands for', async () => {
    const { text } = await call('read_file', { path: 'compose.yml' })
    const shown = ground.context.outputs.clean(text).replace(/^\d+\t/gm, '')
    expect(shown).toContain('POSTGRES_PASSWORD=[redacted]')
    const answer = await call('write_file', { path: 'compose.yml', text: `${shown}\ncache: {}\n` })
    expect(answer).toMatchObject(REFUSED)
    expect(textOf('compose.yml')).toBe(COMPOSE)
  })

  test('makes no new file with it, and no folder for one', async () => {
    expect(await call('write_file', { path: 'new/own.ts', text: OWN })).toMatchObject(REFUSED)
    expect(existsSync(join(ground.workspace, 'new'))).toBe(false)
  })

  test.each([
    ['as many', OWN.replace('LENGTH', 'CHARS'), DONE],
    ['fewer', 'const LENGTH = 10\n', DONE],
    ['one more', `${OWN}const OTHER = '[redacted]'\n`, REFUSED],
  ])('leaves a file that says it itself %s of them', async (_, text, answer) => {
    expect(await call('write_file', { path: 'own.ts', text })).toMatchObject(answer)
    expect(textOf('own.ts')).toBe(answer === DONE ? text : OWN)
  })

  test.each([
    ['as it was shown', 'DB_PASSWORD=[redacted]\n'],
    ['in other words', 'password: [redacted]\n'],
  ])('does not put one that a file says itself in that place, %s', async (_, text) => {
    const before = '# shown as [redacted] in logs\nDB_PASSWORD=hunter2hunter2\n'
    put('a.env', before)
    expect(await call('write_file', { path: 'a.env', text })).toMatchObject(REFUSED)
    expect(textOf('a.env')).toBe(before)
    const kept = `${before}PORT=1\n`
    expect(await call('write_file', { path: 'a.env', text: kept })).toMatchObject(DONE)
  })

  test.each([
    'db:\n  PASSWORD=[redacted]\n',
    'example:\n  PASSWORD=none\ndb:\n  PASSWORD=[redacted]\n',
  ])('nor where the file has a line that looks the same: %j', async (text) => {
    const before = 'example:\n  PASSWORD=[redacted]\ndb:\n  PASSWORD=devpass1\n'
    put('a.yml', before)
    expect(await call('write_file', { path: 'a.yml', text })).toMatchObject(REFUSED)
    const rest = { path: 'a.yml', text: before.replace('example', 'sample') }
    expect(await call('write_file', rest)).toMatchObject(DONE)
  })

  test('takes what is no text for a file without it', async () => {
    put('data.bin', Buffer.from('\0[redacted]'))
    expect(await call('write_file', { path: 'data.bin', text: OWN })).toMatchObject(REFUSED)
    expect(await call('write_file', { path: 'data.bin', text: 'x' })).toMatchObject(DONE)
  })
})

describe('edit_file', () => {
  test('changes what is around it', async () => {
    const edit = { path: 'compose.yml', old_text: 'db:\n', new_text: 'cache: {}\ndb:\n' }
    expect(await call('edit_file', edit)).toMatchObject(DONE)
    expect(textOf('compose.yml')).toBe(`cache: {}\n${COMPOSE}`)
  })

  test.each([
    ['adds the mark', 'db:', 'db: # [redacted]'],
    ['writes it in two edits', 'db:', '[redac'],
    ['looks for it', 'PASSWORD=[redacted]', 'PASSWORD=other'],
  ])('says what it means to one that %s', async (_, old_text, new_text) => {
    put('compose.yml', COMPOSE.replace('\n  - ', 'ted]\n  - '))
    const before = textOf('compose.yml')
    const answer = await call('edit_file', { path: 'compose.yml', old_text, new_text })
    expect(answer).toMatchObject(REFUSED)
    expect(textOf('compose.yml')).toBe(before)
  })

  test.each([
    ['moves', "MARK = '[redacted]'", "TEXT = '[redacted]'"],
    ['takes out', "'[redacted]'", "''"],
  ])('%s one that the file says itself', async (_, old_text, new_text) => {
    expect(await call('edit_file', { path: 'own.ts', old_text, new_text })).toMatchObject(DONE)
    expect(textOf('own.ts')).toBe(OWN.replace(old_text, new_text))
  })
})
