/**
 * Values that have fooled somebody, or might. RUN stands for a command that makes a file in the
 * trap, and TRAP for that folder.
 */
const KNOWN: readonly string[] = [
  ...['', ' ', '-', '--', '-x', '--help', '--version', '-c', '-C', '-h', '--exec', '-u', '-o'],
  ...['--upload-pack=RUN', '-uRUN', '--receive-pack=RUN', '--exec=RUN', '--output=TRAP/x'],
  ...['-oTRAP/x', '--output-directory=TRAP', '--git-dir=TRAP', '--template=TRAP'],
  ...['--separate-git-dir=TRAP/x', '--open-files-in-pager=RUN', '--config-env=a=PATH'],
  ...['-ccore.sshCommand=RUN', '-c core.fsmonitor=RUN', '--ext-diff', '--textconv', '--no-index'],
  ...['ext::sh -c RUN', 'ext::RUN', 'ext::sh% -c% id', 'fd::0', 'fd::17/foo', '::x', 'x::RUN'],
  ...['-oProxyCommand=RUN@host:x', '-oProxyCommand=RUN:x', 'ssh://-oProxyCommand=RUN/x'],
  ...['ssh://%2doProxyCommand=RUN/x', 'ssh://x@-oProxyCommand=RUN/x', 'host:-oProxyCommand=RUN'],
  ...['ssh://host:-oProxyCommand=RUN/x', 'ssh://host/-oProxyCommand=RUN', 'ssh://host/$(RUN)'],
  ...['ssh://host/a@[evil]/x', 'host:a@[evil]:x', 'TRAP/a@[b]/c', 'ssh://a@host/@x', 'a@b/c:d'],
  ...['file:///etc/passwd', 'FILE:///etc', 'file:/etc', 'git://localhost/x', 'ftp://localhost/x'],
  ...['http://[::1]/x', 'ssh://[::1]:22/x', '[::1]:x', 'http://[::1%25lo]/x', 'http://[v1.x]/'],
  ...['https://localhost:1/x', 'HTTPS://localhost:1/x', 'https:localhost/x', 'https:\\\\host\\x'],
  ...['https://u:p@localhost:1/x', 'https://localhost:1/%0a%0d', 'https://localhost:1/%00'],
  ...['https://localhost:1@evil/x', 'https://localhost#@evil/x', 'https://localhost\\@evil/x'],
  ...['http:///x', 'http:x', 'user@host:x', 'user@host:~x', 'host:/x', 'host:x:y', 'a@b@c:d'],
  ...['host:', ':x', '@host:x', "host:'$(RUN)'", 'host:`RUN`', "/'; RUN; '", '/!RUN', '/"$(RUN)"'],
  ...['$(RUN)', '`RUN`', ';RUN', '|RUN', '&RUN', "'RUN'", '"RUN"', 'a\nRUN', 'a\r\nRUN', 'a\0RUN'],
  ...[
    '$' + '{IFS}',
    '$HOME',
    '%00',
    '%2e%2e%2f',
    '~',
    '~root',
    '/TRAP/../x',
    '/TRAP/./x',
    '//TRAP',
  ],
  ...['HEAD', '@', '@{-1}', '@{u}', '@{0}', 'main@{1}', 'main^', 'main~1', 'main^{tree}', ':/x'],
  ...[':0:a', 'refs/heads/main', 'a..b', 'a...b', '^main', '!main', '+main', 'main:x', '*', '?'],
  ...['refs/*', '[a]', '.', '..', '...', './a', '../a', 'a/..', 'a/./b', 'a//b', '/', '//', '/a'],
  ...['/etc/passwd', 'a/', ':(exclude)a', ':!a', ':^a', ':(glob)**', ':(top)a', ':(attr:x)a', '::'],
  ...[':(icase)A', ':', '.git', '.GIT', '.git/config', 'a/.git/x', '.git ', '.git.', '.git\\x'],
  ...['a\\.git', '.git:x', 'git~1', '.g\u200cit', '.gi\ufefft', '.g\u0131t', '\uff0egit', '.git/'],
  ...['.gitmodules', '.gitattributes', '.GIT~1', 'a.lock', 'a.LOCK', '.lock', 'a.', '.a', 'a/.b'],
  ...[
    'a/b.lock/c',
    'con',
    'nul',
    'a:b',
    'C:\\x',
    'c:x',
    '\u202eevil',
    'a\u0300',
    '\u00e9',
    'e\u0301',
  ],
  ...['\ud800', '\udfff', '\u{1d54f}', '\ufeff', '\u2028', '\x7f', '\x1b[2J', 'x'.repeat(255)],
  ...[
    'x'.repeat(256),
    'x/'.repeat(120),
    'x/'.repeat(3_000),
    '\u00e4'.repeat(128),
    'x'.repeat(9_000),
  ],
  ...['f'.repeat(40), '0'.repeat(40), 'F'.repeat(40), 'f'.repeat(39), 'f'.repeat(64)],
  ...[`${'f'.repeat(40)}\n`, `-${'f'.repeat(39)}`, `${'f'.repeat(40)}^`, `^${'f'.repeat(40)}`],
]

export function knownValues(trap: string): readonly string[] {
  return KNOWN.map((value) => fillIn(value, trap))
}

export function fillIn(value: string, trap: string): string {
  return value.replaceAll('RUN', `touch ${trap}/x`).replaceAll('TRAP', trap)
}
