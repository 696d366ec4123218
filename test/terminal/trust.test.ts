import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Place } from '../cli/place.ts'

let place: Place
const tmux = (...args: string[]) => {
  const socket = join(place.folder, 'tmux.sock')
  return execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: place.env })
}
const screen = () => tmux('capture-pane', '-p').toString()

beforeEach(() => {
  place = new Place()
  place.write('slipway.config.yaml', 'tests: { commands: [[make]] }\n')
})
afterEach(() => {
  tmux('kill-server')
  place.remove()
})

async function answer(...keys: string[]): Promise<string> {
  const command = `"${process.execPath}" "${resolve('dist/slipway.js')}" config trust`
  const line = `${command}; echo ended with $?; sleep infinity`
  const size = ['-x', '100', '-y', '50', '-c', place.repository]
  tmux('new-session', '-d', ...size, 'sh', '-c', `trap : INT; ${line}`)
  await vi.waitUntil(() => screen().includes('Trust it? [y/N]'), { timeout: 20_000 })
  tmux('send-keys', ...keys)
  await vi.waitUntil(() => screen().includes('ended with'), { timeout: 20_000 })
  return screen()
}

const isTrusted = async () =>
  JSON.parse((await place.slipway('config', 'show', '--json')).stdout).trusted

test('a yes is remembered, after all that the file sets was shown', async () => {
  const shown = await answer('y', 'Enter')
  expect(shown).toMatch(/tests\.commands +\[\["make"\]\] +needs your trust/)
  expect(shown).toContain('ended with 0')
  expect(await isTrusted()).toBe(true)
})

test.each([
  ['anything else', ['Enter'], '1'],
  ['the end of the input', ['C-d'], '1'],
  ['an interruption', ['C-c'], '130'],
])('%s is a no', async (_, keys, exitCode) => {
  expect(await answer(...keys)).toContain(`ended with ${exitCode}`)
  expect(await isTrusted()).toBe(false)
})
