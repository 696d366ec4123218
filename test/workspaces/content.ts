import { createHash } from 'node:crypto'
import { contentOf } from '../git/world.ts'

/** A hash over all files of a workspace; what a repository inside keeps for itself is not looked at. */
export function hashOf(folder: string): string {
  return createHash('sha256').update(contentOf(folder).join('\n')).digest('hex')
}
