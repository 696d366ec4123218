import { expect, test } from 'vitest'
import {
  isPlainWords,
  isSecretField,
  isSecretHeader,
  isSecretName,
  isSecretSetting,
} from './secret-name.ts'

test.each([
  ...['postgres', 'your-api-key-here', 'Claims Team', 'NONE', 'LM Studio', 'not_needed'],
  ...['GitHub', 'OpenRouter', 'OpenAI', 'MyTeam', 'lmStudio', 'x'.repeat(20)],
])('%s is words', (value) => {
  expect(isPlainWords(value)).toBe(true)
})

test.each([
  ...['xKqPwTzRvB', 'xKqPwTzRvBnMdHsLgFcY', 'dXNlcjpwYXNz', 'abcDEFghiJKL', 'XkQpWtRz'],
  ...['x'.repeat(21), 'X'.repeat(21), 'hunter2', 'a--b', ''],
])('%s is none', (value) => {
  expect(isPlainWords(value)).toBe(false)
})

test.each([
  ...['x-api-key', 'Authorization', 'Cookie', 'AccessKey', 'accesskey', 'X-AuthToken', 'X-APIKey'],
  ...['X-AccessToken', 'X-ClientSecret', 'OK-ACCESS-PASSPHRASE', 'X-PAT', 'X-PortKey-ApiKey'],
  ...['X-SupportKey', 'X-Authorisation'],
])('the header %s holds a secret', (name) => {
  expect(isSecretHeader(name)).toBe(true)
})

test.each([
  ...['X-Portkey-Provider', 'X-PortKey-Config', 'X-Compass-Team', 'X-Author', 'X-Keyboard'],
  ...['X-AuthType', 'X-Auth-Email', 'X-OAuth-Client', 'X-Compat', 'X-Path', 'X-GitHub-Api-Version'],
])('the header %s holds none', (name) => {
  expect(isSecretHeader(name)).toBe(false)
})

test.each([
  'GITHUB_PAT',
  'githubPat',
  'GitHubPAT',
  'AUTHORISATION',
  'apiKey',
  'API_KEYs',
  'DB_PW',
  'DB_CREDS',
])('the setting %s is a secret', (name) => {
  expect([isSecretName(name), isSecretSetting(name)]).toEqual([true, true])
})

test.each(['compat', 'GIT_AUTHOR', 'TOKENIZER', 'PORTKEY_CONFIG', 'AUTH_TYPE', 'KEY_FILE'])(
  'the setting %s is none',
  (name) => {
    expect(isSecretSetting(name)).toBe(false)
  },
)

test.each(['passWord', 'dbPassWord', 'apiKey', 'access_token'])(
  'the field %s is a secret',
  (name) => {
    expect(isSecretField(name)).toBe(true)
  },
)
