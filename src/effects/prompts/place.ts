import type { IsolationLevel } from '../sandbox/sandbox.ts'

/** Where the tools of a model work. */
export interface Place {
  readonly access: 'read' | 'write'
  readonly level: IsolationLevel
  /** Which hosts commands may reach; none when empty. */
  readonly hosts: readonly string[]
}

const HOSTS_SHOWN_MAX = 20

/** What a model has to know about it, in a line. */
export function describePlace({ access, level, hosts }: Place): string {
  if (access === 'read') return 'Your tools read the workspace. Nothing that you do changes it.'
  const paths = 'You work in a workspace of your own.'
  if (level === 'none') {
    return `${paths} Commands run on the user's own machine and nothing holds them: touch nothing outside the workspace, install nothing, and use the network only for what the work needs.`
  }
  const shown = hosts.slice(0, HOSTS_SHOWN_MAX).join(', ')
  const more = hosts.length > HOSTS_SHOWN_MAX ? ' and some more' : ''
  const network = hosts.length === 0 ? 'no network' : `of the network only ${shown}${more}`
  return `${paths} Commands run in a sandbox with the workspace, the system's programs and ${network}. What it refuses stays refused.`
}
