import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { AGENTS } from './agent-catalog.ts'
import { modeOf } from './agent-mode.ts'

const withAdapter = mkdtempSync(join(tmpdir(), 'slipway-mode-'))
const withoutAdapter = mkdtempSync(join(tmpdir(), 'slipway-mode-'))
writeFileSync(join(withAdapter, 'claude-agent-acp'), 'binary', { mode: 0o755 })
writeFileSync(join(withoutAdapter, 'claude'), 'binary', { mode: 0o755 })
afterAll(() => {
  rmSync(withAdapter, { recursive: true })
  rmSync(withoutAdapter, { recursive: true })
})

const { acp: _, ...MUTE } = AGENTS.claude

test.each<[string, Agent, string, boolean, 'acp' | 'headless']>([
  ['the adapter is installed', AGENTS.claude, withAdapter, false, 'acp'],
  ['the agent alone is installed', AGENTS.claude, withoutAdapter, false, 'headless'],
  ['nothing is installed', AGENTS.claude, '', false, 'headless'],
  ['it can nothing but the protocol', AGENTS.gemini, withoutAdapter, false, 'acp'],
  ['it does not speak the protocol', MUTE, withAdapter, false, 'headless'],
  ['it is in a container', AGENTS.claude, withoutAdapter, true, 'acp'],
])('%s', async (_name, agent, path, isInContainer, expected) => {
  expect(await modeOf(agent, path, isInContainer)).toBe(expected)
})
