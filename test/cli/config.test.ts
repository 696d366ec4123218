import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/cli/config/config-file.ts'
import { Place } from './place.ts'

let place: Place
beforeEach(() => {
  place = new Place()
})
afterEach(() => place.remove())

const show = async () => JSON.parse((await place.slipway('config', 'show', '--json')).stdout)

describe('slipway config show', () => {
  test('says where each value came from', async () => {
    place.write('~/.config/slipway/config.yaml', 'team: { coders: 2 }\nreview: { spec: human }\n')
    place.write('slipway.config.yaml', 'team: { coders: 1 }\ntarget: main\n')
    const { settings, brains } = await show()
    expect(settings).toContainEqual({ key: 'team.coders', value: 1, origin: 'repository file' })
    expect(settings).toContainEqual({ key: 'review.spec', value: 'human', origin: 'user file' })
    expect(settings).toContainEqual({ key: 'team.architects', value: 2, origin: 'default' })
    const roles = ['pm', 'architect', 'coder', 'reviewer', 'tester']
    expect(brains.map(({ role }: { role: string }) => role)).toEqual(roles)

    const { exitCode, stdout, stderr } = await place.slipway('config')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^team\.coders +1 +slipway\.config\.yaml$/m)
    expect(stdout).toMatch(/^review\.spec +human +\/.*\.config\/slipway\/config\.yaml$/m)
    expect(stdout).toMatch(/^team\.architects +2 +default$/m)
    expect(stdout).not.toContain('\x1b')
  })

  test('names the variable of a key, and never shows the key', async () => {
    place.env.ANTHROPIC_API_KEY = 'canary-key-1234567890'
    for (const args of [[], ['--json']]) {
      const { stdout } = await place.slipway('config', 'show', ...args)
      expect(stdout).toContain('ANTHROPIC_API_KEY')
      expect(stdout).not.toContain('canary-key')
    }
    expect((await show()).brains[0]).toMatchObject({ provider: 'anthropic', model: null })
  })

  test('a mistake is told with its place and the fix', async () => {
    place.write('slipway.config.yaml', 'team:\n  codrs: 1\n')
    expect(await place.slipway('config')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'slipway: The configuration cannot be used.\nslipway.config.yaml:2:3: team.codrs: is not known here: did you mean coders?\n',
    })
  })

  test('two files at once are a usage error', async () => {
    place.write('slipway.config.yaml', '')
    place.write('slipway.config.json', '{}')
    const { exitCode, stderr } = await place.slipway('config')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('has slipway.config.json and slipway.config.yaml. Keep one of them.')
  })

  test('what a file says cannot steer the terminal', async () => {
    place.write(
      'slipway.config.yaml',
      'tests: { commands: [["\\e]52;c;aGk=\\a", "\\u202e\\x9b1m"]] }',
    )
    for (const args of [[], ['show', '--json'], ['trust', '--yes'], ['trust', '--json'], []]) {
      const { stdout, stderr } = await place.slipway('config', ...args)
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]/u)
    }
    expect((await show()).settings).toContainEqual({
      key: 'tests.commands',
      value: [['\x1b]52;c;aGk=\x07', '\u202e\x9b1m']],
      origin: 'repository file',
    })
  })

  test('works below the root, and outside of any repository', async () => {
    place.write('slipway.config.yaml', 'target: next\n')
    place.write('a/b/file', '')
    const below = Object.assign(Object.create(place), { repository: join(place.repository, 'a/b') })
    const { stdout } = await below.slipway('config')
    expect(stdout).toMatch(/^target +next +slipway\.config\.yaml$/m)
    const outside = Object.assign(Object.create(place), { repository: place.home })
    expect((await outside.slipway('config')).stdout).toMatch(
      /^target +\(the branch .*\) +default$/m,
    )
  })
})

test('slipway config schema is the generated one', async () => {
  const { exitCode, stdout } = await place.slipway('config', 'schema')
  expect(exitCode).toBe(0)
  expect(stdout).toBe(readFileSync('docs/slipway.schema.json', 'utf8'))
})

test('the examples of the document are sound', () => {
  const document = readFileSync('docs/configuration.md', 'utf8')
  const examples = [...document.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  expect(examples.length).toBeGreaterThan(0)
  for (const text of examples) expect(parseConfig(text, 'c.yaml')).toMatchObject({ ok: true })
})

describe('slipway config trust', () => {
  const TEXT = 'target: main\ntests: { commands: [[make, check]] }\n'

  test('shows all that a file sets, remembers it, and forgets it when it changes', async () => {
    place.write('slipway.config.yaml', TEXT)
    const before = await place.slipway('config')
    expect(before.stderr).toBe(
      'slipway: slipway.config.yaml is not trusted, so these parts of it are ignored: tests.commands.\nslipway: `slipway config trust` shows what they would set, and trusts them.\n',
    )
    const { exitCode, stdout, stderr } = await place.slipway('config', 'trust', '--yes')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^target +main$/m)
    expect(stdout).toMatch(/^tests\.commands +\[\["make","check"\]\] +needs your trust$/m)
    expect(stderr).toContain('is trusted as it is now')
    const file = join(place.home, '.local/state/slipway/trust.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await show()).toMatchObject({ trusted: true, ignored: [] })

    place.write('slipway.config.yaml', `${TEXT}#`)
    expect(await show()).toMatchObject({ trusted: false, ignored: [{ key: 'tests.commands' }] })
  })

  test('without a terminal and without --yes nothing is trusted', async () => {
    place.write('slipway.config.yaml', TEXT)
    const { exitCode, stdout, stderr } = await place.slipway('config', 'trust')
    expect(exitCode).toBe(2)
    expect(stdout).toContain('tests.commands')
    expect(stderr).toBe(
      'slipway: There is no terminal to ask at. Look at what it sets, and pass --yes.\n',
    )
    expect(await show()).toMatchObject({ trusted: false })
  })

  test('--revoke ends it, and --json is data', async () => {
    place.write('slipway.config.yaml', TEXT)
    const trusted = JSON.parse((await place.slipway('config', 'trust', '--yes', '--json')).stdout)
    expect(trusted).toMatchObject({
      trusted: true,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      sets: [
        { key: 'target', value: 'main', needsTrust: false },
        { key: 'tests.commands', value: [['make', 'check']], needsTrust: true },
      ],
    })
    expect((await place.slipway('config', 'trust', '--revoke')).exitCode).toBe(0)
    expect(await show()).toMatchObject({ trusted: false })
  })

  test('with no file there is nothing to trust', async () => {
    const { exitCode, stderr } = await place.slipway('config', 'trust', '--yes')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('nothing to trust')
  })
})
