import { describe, expect, test } from 'vitest'
import { GitGuardError, type GitValue, guardGit, isGitFolder } from './git-guard.ts'

const COMMIT = 'f'.repeat(40)

const ACCEPTED: Readonly<Record<GitValue, readonly string[]>> = {
  branch: ['main', 'slipway/r1/s1', 'a.b/c-d_e', 'user@work', 'v1.0+x', 'x'.repeat(200), 'head'],
  commit: [COMMIT, '0'.repeat(64)],
  path: [
    'a',
    'a/b.txt',
    'a b',
    'a\nb',
    'ü/ñ',
    '.gitignore',
    '.github/x',
    'a-',
    'x:y',
    '..a',
    '...',
  ],
  url: [
    '/home/me/project',
    '/home/me/my project/ü',
    '/a:b/ext::x',
    'https://github.com/o/r.git',
    'https://me@example.org:8443/r',
    'http://[::1]:80/r',
    'ssh://git@example.org/~me/r',
    'git@github.com:o/r.git',
    'host:r',
  ],
}

const REFUSED: Readonly<Record<GitValue, readonly string[]>> = {
  branch: [
    ...[
      '',
      '-x',
      'a/-x',
      '--upload-pack=x',
      'HEAD',
      '@',
      '@{-1}',
      'a..b',
      'a//b',
      '/a',
      'a/',
      '.a',
    ],
    ...['a/.b', 'a.', 'a.lock', 'a.LOCK/b', 'a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[', 'a\\b'],
    ...['a\0', 'a\n', 'ä', 'x'.repeat(201), COMMIT, '$(id)', '`id`', 'a;b', 'a|b', "a'b", 'a&b'],
  ],
  commit: ['', 'main', COMMIT.slice(1), `${COMMIT}0`, `${COMMIT}\n`, COMMIT.toUpperCase(), '-'],
  path: [
    ...['', '/etc/passwd', '-x', '--output=x', ':(exclude)x', ':/x', '..', 'a/../b', './a', 'a//b'],
    ...['a/', 'a\0b', '\ud800', 'a/.git/config', '.GIT', '.g\u200cit/x', 'git~1/x', '.git./x'],
    ...['.git /x', '.git::$INDEX_ALLOCATION/x', 'a\\.git\\x', 'x'.repeat(256), 'x/'.repeat(2_100)],
  ],
  url: [
    ...['', 'relative/path', '/a/../b', '/a\0b', '/a\nb', '/\ud800', '-x', '--upload-pack=x'],
    ...['ext::sh -c id', 'ext::id', 'fd::0', 'file:///etc', 'git://host/x', 'ftp://host/x'],
    ...['HTTPS://host/x', 'https:host/x', 'https:\\\\host\\x', 'https://host\\@evil/x', 'https://'],
    ...['https://user:password@host/x', 'https://host/%0ax', 'ssh://-oProxyCommand=id/x'],
    ...['ssh://%2doProxyCommand=id@host/x', 'ssh://-x@host/x', 'ssh://host/%00', 'ssh:///x'],
    ...['-oProxyCommand=id@host:x', 'host:-x', 'host://x', 'host:x:y', '[::1]:x', 'user@-host:x'],
    ...[`https://ghp_${'a1'.repeat(18)}@github.com/o/r`, 'https://host/ x', 'https://hôst/x'],
    ...['ssh://host/a@[evil]/x', 'host:a@[evil]', '/home/me@[x]/project'],
    ...['https://host:99999999/x', 'http://[::1%25eth0]/x', `https://host/${'x'.repeat(2_048)}`],
  ],
}

const casesOf = (table: typeof ACCEPTED) =>
  Object.entries(table).flatMap(([kind, values]) =>
    values.map((value) => [kind as GitValue, value] as const),
  )

describe('guardGit', () => {
  test.each(casesOf(ACCEPTED))('takes the %s %j as it is', (kind, value) => {
    expect(guardGit(kind, value)).toBe(value)
  })

  test.each(casesOf(REFUSED))('refuses the %s %j', (kind, value) => {
    expect(() => guardGit(kind, value)).toThrow(GitGuardError)
  })

  test('repeats no secret in its refusal', () => {
    const token = `ghp_${'a1'.repeat(18)}`
    expect(() => guardGit('branch', `${token} `.repeat(4))).toThrow(/redacted/)
    expect(() => guardGit('url', `https://me:${token}@host/x`)).not.toThrow(token)
  })
})

describe('isGitFolder', () => {
  test.each([
    '.git',
    '.GiT',
    '.git.',
    '.git ',
    '.git . ',
    '.git:x',
    'GIT~1',
    'git~22',
    '.g\ufeffit',
  ])('knows %j', (name) => expect(isGitFolder(name)).toBe(true))

  test.each(['git', '.gitignore', '.github', 'a.git', '.git2', 'git~', 'git~1a', '. git', ''])(
    'does not mean %j',
    (name) => expect(isGitFolder(name)).toBe(false),
  )
})
