import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Answer, calls } from '../providers/answer.ts'
import { type ProviderServer, type SeenRequest, startProviderServer } from '../providers/server.ts'
import { makeUser, type User } from '../run/slipway.ts'
import { APPROVAL, planOf } from './replies.ts'

let user: User
let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
  user = await makeUser()
})

afterEach(async () => {
  await user.close()
  await server.close()
})

const TEST = `import { test } from 'node:test'
test('it is there', () => import('../src/half.js'))
`

/** A model that can do just this, by the tools that it is offered. */
function think({ body }: SeenRequest): Answer {
  const tools = JSON.stringify(body.tools ?? [])
  const said = JSON.stringify(body)
  if (tools.includes('submit_review')) return calls('submit_review', APPROVAL)
  if (tools.includes('submit_test_plan')) {
    return calls('submit_test_plan', planOf(['node', '--test', 'test/half.test.js']))
  }
  if (!said.includes('half.js: ')) {
    return calls('write_file', { path: 'src/half.js', text: 'export const half = (a) => a / 2\n' })
  }
  if (!said.includes('half.test.js: ')) {
    return calls('write_file', { path: 'test/half.test.js', text: TEST })
  }
  return calls('done', { summary: 'It halves.' })
}

test('coder, reviewer and tester each ask a provider of their own', async () => {
  server.answer(think)
  await user.play([{ do: [{ text: 'nobody asks this one' }] }], {
    models: {
      default: {
        provider: 'anthropic',
        model: 'd',
        baseUrl: `${server.url}/v1`,
        apiKeyEnv: 'A_KEY',
      },
      coder: { provider: 'anthropic', model: 'c', baseUrl: `${server.url}/v1`, apiKeyEnv: 'A_KEY' },
      reviewer: {
        provider: 'google',
        model: 'r',
        baseUrl: `${server.url}/v1beta`,
        apiKeyEnv: 'G_KEY',
      },
      tester: { provider: 'openai', model: 't', baseUrl: `${server.url}/v1`, apiKeyEnv: 'O_KEY' },
    },
    tests: { commands: [['node', '--test']] },
  })
  delete user.env.SLIPWAY_SCENARIO
  Object.assign(user.env, {
    A_KEY: 'key-of-a-0123456789',
    G_KEY: 'key-of-g-0123456789',
    O_KEY: 'key-of-o-0123456789',
  })
  const args = ['task', 'Add a function that halves', '--mode', 'implementation', '--foreground']
  const { code, stdout, stderr } = await user.slipway(...args)
  expect(code, `${stdout}${stderr}`).toBe(0)
  expect(stdout).toContain('**approved**')
  const asked = (part: string) =>
    new Set(
      server.requests
        .filter(({ body }) => JSON.stringify(body.tools ?? []).includes(part))
        .map(({ wire, model }) => `${wire} ${model}`),
    ).size
  expect(asked('submit_review')).toBe(1)
  // The provider holds the two answers to their form, each in its own way.
  const bodyWith = (part: string) =>
    server.requests.find(({ body }) => JSON.stringify(body.tools ?? []).includes(part))?.body
  const toolConfig = { functionCallingConfig: { mode: 'VALIDATED' } }
  expect(bodyWith('submit_review')).toMatchObject({ toolConfig })
  const tools = bodyWith('submit_test_plan')?.tools as { name: string; strict: boolean }[]
  const strict = tools.filter((tool) => tool.strict).map(({ name }) => name)
  expect(strict).toEqual(['submit_test_plan'])
  const wires = server.requests.map(({ wire, model }) => `${model} ${wire}`)
  expect([...new Set(wires)].map((each) => each[0]).sort()).toEqual(['c', 'r', 't'])
}, 60_000)
