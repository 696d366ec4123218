import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { only, thinkThrough } from '../brains/turn.ts'
import { calls } from '../providers/answer.ts'
import { type AgentWorld, openAgentWorld, playScene } from './agent-world.ts'
import { REAL_AGENTS, type RealAgent } from './real-agents.ts'

const OPENCODE = REAL_AGENTS.find(({ agent }) => agent === 'opencode') as RealAgent

/** Tries to change what is the user's own, and to add to it. */
const TAMPER = 'cd ~/.config/opencode; echo mine > AGENTS.md; echo {} > mine.json; ls'

let world: AgentWorld

beforeAll(async () => {
  world = await openAgentWorld()
})

afterAll(() => world.close())

test('opencode starts where its folder has no .gitignore, reads it, and changes nothing of it', {
  timeout: 110_000,
}, async () => {
  const answers = [OPENCODE.shell(TAMPER), calls(OPENCODE.done, { summary: 'Done.' })]
  await playScene(world, OPENCODE, { answers }, async ({ workspace, brain, turn, server }) => {
    const home = join(dirname(workspace), 'home')
    const own = join(home, '.config/opencode')
    await mkdir(own, { recursive: true })
    // As those have it who keep such files elsewhere.
    await writeFile(join(home, 'dotfile'), 'Speak of herrings.')
    await symlink('../../dotfile', join(own, 'AGENTS.md'))
    const events = await thinkThrough(brain, turn)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(only(events, 'tool_call')).toHaveLength(1)
    const told = JSON.stringify(server.requests.map(({ body }) => body))
    expect(told).toContain('Speak of herrings.')
    expect(told).toContain('mine.json')
    expect(await readdir(own)).toEqual(['AGENTS.md'])
    expect(await readFile(join(own, 'AGENTS.md'), 'utf8')).toBe('Speak of herrings.')
  })
})

/** An address of an account from which opencode would take commands, the next time it is started. */
const ADDRESS = 'https://settings.example'
const TOKENS = { type: 'oauth', access: 'a1', refresh: 'r1', expires: 1 }
const RENEWED = { ...TOKENS, access: 'a2', refresh: 'r2' }
const KEY = { type: 'api', key: 'own-key-0123456789' }

test('opencode renews tokens, and what it runs adds no account to them', {
  timeout: 110_000,
}, async () => {
  const file = '.local/share/opencode/auth.json'
  const added = { [ADDRESS]: { type: 'wellknown', key: 'K', token: 't' } }
  const changed = JSON.stringify({ renewing: RENEWED, ...added })
  const files = () => ({ [file]: JSON.stringify({ renewing: TOKENS, kept: KEY }) })
  const tamper = OPENCODE.shell(`echo '${changed}' > ~/${file} && printf written%d 42`)
  const answers = [tamper, calls(OPENCODE.done, { summary: 'Done.' })]
  await playScene(world, { ...OPENCODE, files }, { answers }, async (scene) => {
    const { workspace, brain, turn, loopRequests } = scene
    const events = await thinkThrough(brain, turn)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(JSON.stringify(loopRequests().at(-1)?.body)).toContain('written42')
    const text = await readFile(join(dirname(workspace), 'home', file), 'utf8')
    expect(JSON.parse(text)).toEqual({ renewing: RENEWED, kept: KEY })
  })
})
