import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findGithubRepository } from './github-repository.ts'

const repositoryOf = (remote: string, apiUrl?: string) => {
  const address = findGithubRepository(remote, apiUrl)
  return address.kind === 'github' ? address.repository : undefined
}

const PUBLIC = {
  owner: 'acme',
  repo: 'app.js',
  apiUrl: 'https://api.github.com',
  gitUrl: 'https://github.com/acme/app.js.git',
  host: 'github.com',
}

test.each([
  'https://github.com/acme/app.js',
  'https://github.com/acme/app.js.git',
  'https://github.com/acme/app.js.git/',
  'https://GitHub.com/acme/app.js.git',
  'git@github.com:acme/app.js.git',
  'github.com:acme/app.js',
  'org-12345@github.com:acme/app.js.git',
  'git@github.com:/acme/app.js.git',
  'ssh://git@github.com/acme/app.js.git',
  'ssh://git@github.com:22/acme/app.js.git',
  'ssh://git@ssh.github.com:443/acme/app.js.git',
])('%s is a repository on github.com', (remote) => {
  expect(repositoryOf(remote)).toEqual(PUBLIC)
})

test.each([
  ['https://ghe.example.org/acme/app.git', 'https://ghe.example.org/api/v3'],
  ['git@ghe.example.org:acme/app.git', 'https://ghe.example.org/api/v3/'],
  ['ssh://git@ghe.example.org:2222/acme/app.git', 'https://ghe.example.org/api/v3'],
])('%s is a repository of the server that is configured', (remote, apiUrl) => {
  expect(repositoryOf(remote, apiUrl)).toEqual({
    owner: 'acme',
    repo: 'app',
    apiUrl: 'https://ghe.example.org/api/v3',
    gitUrl: 'https://ghe.example.org/acme/app.git',
    host: 'ghe.example.org',
  })
})

test('a host of its own for the API belongs to the host without it', () => {
  const repository = repositoryOf('git@acme.ghe.com:acme/app.git', 'https://api.acme.ghe.com')
  expect(repository).toMatchObject({
    apiUrl: 'https://api.acme.ghe.com',
    gitUrl: 'https://acme.ghe.com/acme/app.git',
  })
})

describe('refused', () => {
  test.each([
    'https://evil.example/acme/app.git',
    'https://github.com.evil.example/acme/app.git',
    'https://github.com@evil.example/acme/app.git',
    'https://evil.example#@github.com/acme/app.git',
    'https://evil.example\\@github.com/acme/app.git',
    'https://user:secret@github.com/acme/app.git',
    'https://secret@github.com/acme/app.git',
    'https://github.com:8443/acme/app.git',
    'http://github.com/acme/app.git',
    'git://github.com/acme/app.git',
    'file:///github.com/acme/app.git',
    'ext::sh -c id% github.com/acme/app.git',
    '-oProxyCommand=id:acme/app.git',
    'ssh://-oProxyCommand=id/acme/app.git',
    'ssh://git@-github.com/acme/app.git',
    'git@github.com:-acme/app.git',
    'git@github.com:acme/../app.git',
    'git@github.com:acme/...git',
    'git@github.com:acme/.git',
    'https://github.com/acme/app.git?x=1',
    'https://github.com/acme/app%2egit/..',
    'https://github.com/acme',
    'https://github.com/acme/app/pulls',
    'https://github.com/acme/app.git\nhttps://evil.example',
    '/srv/git/app.git',
    '',
  ])('%j', (remote) => {
    expect(repositoryOf(remote)).toBeUndefined()
  })

  test.each([
    'http://ghe.example.org/api/v3',
    'https://user@ghe.example.org/api/v3',
    'https://ghe.example.org/api/v3?x',
    'https://ghe.example.org/../api',
    'ftp://ghe.example.org',
    '',
  ])('with %j as the API', (apiUrl) => {
    expect(repositoryOf('https://ghe.example.org/acme/app.git', apiUrl)).toBeUndefined()
  })

  test('a remote on github.com where another server is configured', () => {
    expect(repositoryOf(PUBLIC.gitUrl, 'https://ghe.example.org/api/v3')).toBeUndefined()
  })

  test('without repeating the address, which may hold a password', () => {
    const address = findGithubRepository('https://user:secret@github.com/acme/app.git')
    expect(JSON.stringify(address)).not.toContain('secret')
  })
})

test('whatever a remote says, a token goes to the configured host or nowhere', () => {
  const noise = ['@', ':', '/', '\\', '#', '?', '%2f', '..', '\n', '\0', ' ', '-o', 'x']
  const bits = fc.oneof(
    { weight: 19, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom(...noise) },
  )
  const scheme = fc.constantFrom('https://', 'http://', 'ssh://git@', 'git@', 'ext::', '')
  const host = fc.constantFrom(
    'github.com',
    'github.com:443',
    'evil.example',
    'user:pass@github.com',
  )
  const between = fc.constantFrom('/', ':', ':/')
  const owner = fc.oneof(fc.constantFrom('acme', '..', '-acme'), fc.string({ maxLength: 3 }))
  const repo = fc.oneof(
    fc.constantFrom('app', 'app.git', '.git', '..'),
    fc.string({ maxLength: 3 }),
  )
  const slash = fc.constant('/')
  const parts = [bits, scheme, bits, host, bits, between, bits, owner, slash, bits, repo, bits]
  let accepted = 0
  fc.assert(
    fc.property(fc.tuple(...parts), (texts) => {
      const repository = repositoryOf(texts.join(''))
      if (repository === undefined) return true
      accepted += 1
      const { apiUrl, gitUrl } = repository
      const plain = /^https:\/\/github\.com\/[A-Za-z0-9][\w-]*\/(?!\.?\.?\.git$)[\w.][\w.-]*\.git$/
      return apiUrl === PUBLIC.apiUrl && plain.test(gitUrl)
    }),
    { numRuns: 10_000 },
  )
  expect(accepted).toBeGreaterThan(20)
})
