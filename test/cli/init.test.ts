import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseConfig } from '../../src/cli/config/config-file.ts'
import { Place } from './place.ts'

let place: Place
beforeEach(() => {
  place = new Place()
})
afterEach(() => place.remove())

const read = (path: string) => readFileSync(join(place.repository, path), 'utf8')

test('writes what a user begins with, and git does not see the state folder', async () => {
  const { exitCode, stdout, stderr } = await place.slipway('init')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout:
      'wrote slipway.config.yaml\nwrote spec.md\nwrote .slipway/.gitignore\nwrote .slipway/slipway.schema.json\n',
  })
  expect(stderr).toContain('spec.md')
  expect(place.git('status', '--short')).toBe('?? slipway.config.yaml\n?? spec.md\n')
  expect(lstatSync(join(place.repository, '.slipway')).mode & 0o777).toBe(0o700)
  expect(read('.slipway/slipway.schema.json')).toBe(
    readFileSync('docs/slipway.schema.json', 'utf8'),
  )
})

test('the configuration is sound, as it is and with every example taken', async () => {
  await place.slipway('init')
  const text = read('slipway.config.yaml')
  expect(parseConfig(text, 'c.yaml')).toEqual({ ok: true, config: {} })
  const examples = text.replaceAll(/^# (?=[a-z]+:(?: |$)| {2})(?!yaml-)/gm, '')
  const parsed = parseConfig(examples, 'c.yaml')
  expect(parsed).toMatchObject({ ok: true, config: { target: 'main', team: { coders: 3 } } })
  expect(parsed.ok && Object.keys(parsed.config).length).toBe(7)
})

test('overwrites nothing, whichever ending a configuration has', async () => {
  place.write('slipway.config.json', '{}')
  place.write('spec.md', 'mine')
  const { stdout } = await place.slipway('init', '--json')
  expect(JSON.parse(stdout).files).toMatchObject([
    { path: join(place.repository, 'slipway.config.json'), status: 'kept' },
    { path: join(place.repository, 'spec.md'), status: 'kept' },
    { status: 'written' },
    { status: 'written' },
  ])
  expect([read('slipway.config.json'), read('spec.md')]).toEqual(['{}', 'mine'])
  expect(existsSync(join(place.repository, 'slipway.config.yaml'))).toBe(false)
  expect((await place.slipway('init')).stdout).not.toContain('wrote')
})

test('writes through no link that came with a repository', async () => {
  const outside = join(place.folder, 'outside')
  mkdirSync(outside)
  symlinkSync(outside, join(place.repository, '.slipway'))
  const { exitCode, stderr } = await place.slipway('init')
  expect(exitCode).toBe(2)
  expect(stderr).toContain('.slipway is not a folder')
  expect(existsSync(join(outside, '.gitignore'))).toBe(false)
})

test('outside of a repository it says what to do', async () => {
  const outside = Object.assign(Object.create(place), { repository: place.home })
  const { exitCode, stderr } = await outside.slipway('init')
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: 'slipway: This folder is in no git repository. `git init` makes one.\n',
  })
})
