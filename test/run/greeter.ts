import { plainGit } from '../git/world.ts'
import { story, submit } from '../team/replies.ts'
import { makeUser, type User } from './slipway.ts'

export const SPEC = `# Greeter

A greeter in shell.

## Acceptance criteria

1. It greets.
2. It says goodbye.
`
export const TESTS = { commands: [['sh', 'test.sh']] }
export const HELLO = submit(story('hello', { criteria: ['1', '2'] }))

/** A user whose repository has tests in shell, and a spec of a greeter beside it. */
export async function makeGreeter(): Promise<User> {
  const user = await makeUser()
  user.write('test.sh', 'for t in tests/*.sh; do sh "$t" || exit 1; done\n')
  user.write('tests/0.sh', 'true\n')
  plainGit(user.repository, 'add', '-A')
  plainGit(user.repository, 'commit', '-q', '-m', 'tests')
  user.write('../spec.md', SPEC)
  return user
}
