import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { plainGit, writeFiles } from '../git/world.ts'

/** A user's repository that says how git is to treat its files, before anything is planted. */
export function makeVictim(scratch: string): { readonly user: string; readonly home: string } {
  const user = join(scratch, 'user')
  const home = join(scratch, 'home')
  const sub = join(scratch, 'sub')
  for (const folder of [user, home, sub]) mkdirSync(folder)
  plainGit(sub, 'init', '-q', '-b', 'main')
  plainGit(sub, 'commit', '-q', '--allow-empty', '-m', 'inner')
  const inner = plainGit(sub, 'rev-parse', 'HEAD')
  plainGit(user, 'init', '-q', '-b', 'main')
  writeFiles(user, FILES)
  plainGit(user, 'add', '-A')
  plainGit(user, 'update-index', '--add', '--cacheinfo', `160000,${inner},sub`)
  plainGit(user, 'commit', '-q', '-m', 'init')
  mkdirSync(join(user, 'sub'), { recursive: true })
  plainGit(user, 'branch', 'signed', sign(user))
  plainGit(user, 'tag', 'v1')
  return { user, home }
}

const FILES: Readonly<Record<string, string>> = {
  'a.txt': Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(''),
  'b.bin': '\0\x01',
  '.gitattributes': '* filter=evil merge=evil diff=evil ident text=auto\n*.bin filter=lfs\n',
  '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c id\n',
  '.gitignore': 'ignored/\n',
  'gate.sh': 'exit 0\n',
}

/** A commit that claims to be signed, so that whoever shows signatures asks a program about it. */
function sign(user: string): string {
  const commit = execFileSync('git', ['cat-file', 'commit', 'HEAD'], {
    cwd: user,
    encoding: 'utf8',
  })
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n'
  const input = commit.replace('\n\n', `\n${signature}\n`)
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin']
  return execFileSync('git', args, { cwd: user, input, encoding: 'utf8' }).trim()
}
