import { expect, test } from 'vitest'
import { readMcpConfig } from './mcp-config.ts'
import { expandEntry, ownSecrets } from './mcp-variables.ts'

// What an entry says, which is not for JavaScript to fill in.
const variable = (name: string) => `\${${name}}`

const secretsOf = (entry: object, given = 'given-1') => {
  const [server] = readMcpConfig(JSON.stringify({ mcpServers: { a: entry } })).servers
  if (server === undefined) throw new Error('no server')
  const expanded = expandEntry(server.entry, ['GIVEN'], { GIVEN: given })
  return expanded.ok ? expanded.secrets : expanded.reason
}
const inArgs = (...args: readonly string[]) => secretsOf({ command: 'x', args })

test('values under the name of a secret are secrets', () => {
  const env = { TICKETS_TOKEN: 'tck_81LmQ0', PGPASSWORD: 'hunter2', LEVEL: 'l3-verbose' }
  expect(secretsOf({ command: 'x', env })).toEqual(['tck_81LmQ0', 'hunter2'])
  const headers = { 'x-api-key': 'Qw7z', Authorization: 'Bearer Lm2p', 'x-portkey-provider': 'p-1' }
  expect(secretsOf({ url: 'https://a.test/mcp', headers })).toEqual(['Qw7z', 'Bearer Lm2p', 'Lm2p'])
})

test.each([
  [['--api-key', 'Qw7z'], ['Qw7z']],
  [['--api-key=Qw7z', '-token', '--other', 'l3'], ['Qw7z']],
  [
    ['run', '-e', 'API_TOKEN=Qw=7z', '--env=DB_PASSWORD=x1'],
    ['Qw=7z', 'x1'],
  ],
  [
    ['--header', 'Authorization: Bearer Qw7z'],
    ['Bearer Qw7z', 'Qw7z'],
  ],
  [['--header=x-api-key:Qw7z'], ['Qw7z']],
  [['https://a.test/?level=l3&api_key=Qw%2F7z+'], ['Qw%2F7z+', 'Qw/7z+']],
  [['--level', 'l3', '--level=l3', 'x: l3', 'a=b=c=TOKEN=l3'], []],
  [
    ['--devops-pat', 'Qw7z', '--password', '-x9s'],
    ['Qw7z', '-x9s'],
  ],
  [
    ['--header', 'Authorization: Token Qw7z'],
    ['Token Qw7z', 'Qw7z'],
  ],
])('so is what programs are handed in arguments: %j', (args, secrets) => {
  expect(inArgs(...args)).toEqual(secrets)
})

const KEY = 'b7Qz91LmPw44xT'

test.each([
  [['--config', JSON.stringify({ apiKey: KEY, region: 'eu-1' })]],
  [['run', `postgresql://app:${KEY}@localhost/db`]],
  [[`--api-key="${KEY}"`]],
  [["--env='API_TOKEN=x1'", '--token', `'${KEY}'`], ['x1']],
  [['-c', `export API_TOKEN=${KEY}; exec server --stage dev-1`]],
  [['-c', `server --api-key ${KEY} --level l3`]],
  [['-c', `curl -H "x-api-key: ${KEY}" https://a.test | tee log-1`]],
])('so is what has more around it: %j', (args, others: readonly string[] = []) => {
  expect(inArgs(...args)).toEqual([...others, KEY])
})

test('so is what stands inside a value, whatever that is called', () => {
  const headers = JSON.stringify({ Authorization: `Bearer ${KEY}`, 'Notion-Version': '2022-06-28' })
  const bearer = [`Bearer ${KEY}`, KEY]
  expect(secretsOf({ command: 'x', env: { OPENAPI_MCP_HEADERS: headers } })).toEqual([
    headers,
    ...bearer,
  ])
  expect(secretsOf({ command: 'x', env: { SETUP: headers } })).toEqual(bearer)
  const lines = `X-Team: t-1\nAuthorization: Bearer ${KEY}`
  expect(secretsOf({ command: 'x', env: { HEADERS: lines } })).toEqual([lines, ...bearer])
  expect(secretsOf({ command: 'x', env: { DB: `postgres://me:${KEY}@h/db` } })).toEqual([KEY])
  const cookie = `session=${KEY}; theme=dark`
  const inCookie = secretsOf({ url: 'https://a.test/mcp', headers: { Cookie: cookie } })
  expect(inCookie).toEqual([cookie, KEY])
})

test('so is what stands inside a variable', () => {
  const value = JSON.stringify({ Authorization: `Bearer ${KEY}` })
  const given = variable('GIVEN')
  expect(secretsOf({ command: 'x', env: { SETUP: given } }, value)).toEqual([
    ...[value, `Bearer ${KEY}`, KEY],
  ])
  const { ok, ...expanded } = expandEntry(
    { type: 'stdio', command: 'x', args: [variable('PORT')], env: { SETUP: given } },
    ['GIVEN', 'PORT'],
    { GIVEN: value, PORT: '1' },
  )
  expect([ok, expanded]).toMatchObject([true, { secrets: expect.arrayContaining([KEY]) }])
  const remote = { url: 'https://a.test/mcp', headers: { Authorization: given } }
  expect(secretsOf(remote, `ApiKey ${KEY}`)).toEqual([`ApiKey ${KEY}`, KEY])
})

test('so are letters alone, where they are more than a word has', () => {
  const letters = 'qwzlmpxrtvnaabcdkeyfu'
  expect(inArgs('--token', letters, '--secret', letters.slice(1))).toEqual([letters])
})

test('so is a password for one app, which is letters alone, in groups or not', () => {
  const [grouped, joined] = ['wqzr kplx tnbv jhgd', 'wqzrkplxtnbvjhgd']
  expect(secretsOf({ command: 'x', env: { SMTP_PASSWORD: grouped } })).toEqual([grouped, joined])
  expect(secretsOf({ command: 'x', env: { SMTP_PASSWORD: joined } })).toEqual([joined])
  expect(inArgs('--smtp-pass', joined, `smtp://me:${joined}@h`)).toEqual([joined])
  const words = {
    SMTP_TOKEN: joined,
    COMPASS_TEAM: joined,
    SMTP_PASSWORD: 'four more such words',
    API_KEY: grouped,
  }
  expect(secretsOf({ command: 'x', env: words })).toEqual([])
})

test('so are letters that no word is spelled with', () => {
  expect(inArgs('--token', 'xKqPwTzRvB', '--secret', 'Postgres', '--auth', 'NONE')).toEqual([
    'xKqPwTzRvB',
  ])
  const headers = { Authorization: 'Basic dXNlcjpwYXNz' }
  const secrets = secretsOf({ url: 'https://a.test/mcp', headers })
  expect(secrets).toEqual(['Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'])
})

test('so is what an address asks with', () => {
  expect(secretsOf({ url: 'https://a.test/mcp?team=t1&token=Qw7z#top' })).toEqual(['Qw7z'])
})

test('so is what stands in for a variable, and nothing beside one', () => {
  const given = variable('GIVEN')
  const absent = variable('ABSENT:-Qw7z')
  const env = { A_TOKEN: absent, B_TOKEN: `x1-${given}`, C_TOKEN: `Bearer ${given}` }
  expect(secretsOf({ command: 'x', env })).toEqual(['Qw7z', 'given-1'])
})

test('so is what stands beside a variable, but not around it', () => {
  const given = variable('GIVEN')
  expect(secretsOf({ url: `https://${given}/mcp?api_key=${KEY}` })).toEqual([KEY])
  expect(secretsOf({ url: `https://a.test/mcp?token=x-${given}&api_key=${KEY}` })).toEqual([
    ...[KEY, 'given-1'],
  ])
  const config = `{"port":${given},"apiKey":"${KEY}","token":"x1-${given}"}`
  expect(inArgs('--config', config)).toEqual([KEY, 'given-1'])
})

test.each([
  ['under the name of a secret', { command: 'x', env: { A_TOKEN: variable('GIVEN') } }],
  ['behind a flag', { command: 'x', args: ['--api-key', variable('GIVEN')] }],
  ['in a flag', { command: 'x', args: [`--password=${variable('GIVEN')}`] }],
  ['for another program', { command: 'x', args: ['-e', `DB_PASSWORD=${variable('GIVEN')}`] }],
  ['in a header', { url: 'https://a.test', headers: { 'X-Team': variable('GIVEN') } }],
  [
    'behind a scheme',
    { url: 'https://a.test', headers: { Authorization: `Bearer ${variable('GIVEN')}` } },
  ],
  ['in a query', { url: `https://a.test/?team=a&token=${variable('GIVEN')}` }],
  ['for a password', { command: 'x', args: [`postgres://me:${variable('GIVEN')}@h/db`] }],
  ['in JSON', { command: 'x', env: { SETUP: `{"apiKey":"${variable('GIVEN')}"}` } }],
  ['among words', { command: 'x', env: { DSN: `host=h password=${variable('GIVEN')}` } }],
  ['around it', { command: 'x', env: { AUTH: `me:${variable('GIVEN')}` } }],
])('so is what looks harmless %s', (_, entry) => {
  expect(secretsOf(entry, 'acme-corp')).toContain('acme-corp')
})

test.each([
  ['under another name', { command: 'x', env: { AWS_REGION: variable('GIVEN') } }],
  ['for a choice', { command: 'x', args: ['--region', variable('GIVEN')] }],
  ['in an address', { url: `https://auth.${variable('GIVEN')}/mcp?team=${variable('GIVEN')}` }],
  [
    'beside a secret',
    { command: 'x', env: { SETUP: `{"apiKey":"k","org":"${variable('GIVEN')}"}` } },
  ],
  ['beside a password', { command: 'x', env: { DSN: `postgres://a:b@${variable('GIVEN')}/db` } }],
  ['about a secret', { command: 'x', env: { AUTH_REGION: variable('GIVEN') } }],
])('what looks harmless is none %s', (_, entry) => {
  expect(secretsOf(entry, 'us-east-1')).toEqual([])
  expect(secretsOf(entry, KEY)).toContain(KEY)
})

test('a port behind a host that is called after a secret is none', () => {
  expect(secretsOf({ url: `http://auth:${variable('GIVEN')}/mcp` }, '8080')).toEqual([])
})

test('so is what an entry says that cannot be used', () => {
  const { servers } = readMcpConfig(
    JSON.stringify({
      mcpServers: { a: { command: 'x', env: { A_TOKEN: KEY, B_TOKEN: variable('NONE') } } },
    }),
  )
  expect(servers.flatMap(({ entry }) => ownSecrets(entry))).toEqual([KEY])
})

test('of thousands in one entry the first are known, and all that were given', () => {
  const many = Array.from({ length: 3_000 }, (_, i) => [`K${i}_KEY`, `${KEY}${i}`])
  const env = { ...Object.fromEntries(many), LAST_TOKEN: variable('GIVEN') }
  const secrets = secretsOf({ command: 'x', env }, `{"token":"${KEY}"}`)
  expect(secrets).toContain(`${KEY}39`)
  expect(secrets).not.toContain(`${KEY}40`)
  expect(secrets).toEqual(expect.arrayContaining([KEY, `{"token":"${KEY}"}`]))
  expect(secrets).toHaveLength(42)
})

test('plain words, numbers, places and addresses are none, nor what is said about a secret', () => {
  const env = {
    ...{ DB_PASSWORD: 'postgres', API_KEY: 'your-api-key-here', MAX_TOKENS: '200000' },
    ...{ KEY_DIR: 'keys/v2', TOKEN: '~/.token1', SECRET: process.cwd(), AUTH_TYPE: 'oauth2' },
    ...{ GIT_AUTHOR_EMAIL: 'me@a.test', GIT_AUTHOR: 'me1', AUTH_METHOD: 'oauth2' },
    ...{ TOKENIZER: 'o200k_base', AUTH0_DOMAIN: 'dev-1.us.auth0.com', OAUTH_SCOPES: 'repo,r:org' },
    ...{ SSH_AUTH_SOCK: '/run/none.sock', AUTH_REGION: 'eu-1' },
    ...{ DB: 'postgres://postgres:postgres@h', SETUP: '{"password":"postgres","key":"k"}' },
    ...{ AUTH: 'https://sso.a.test/v2', KEYCLOAK_URL: 'https://a:b1@sso.a.test', PASS: '' },
  }
  expect(secretsOf({ command: 'x', env })).toEqual([])
})
