import { TASK_STORY } from '../../agents/coordinator/protocol.ts'
import type { StoryMessage } from '../../agents/team/protocol.ts'
import type { Owner } from '../../effects/workspace/place.ts'
import type { JournalReader } from '../../runtime/journal.ts'
import type { AgentRecord } from '../../runtime/records.ts'

/** The workspaces that somebody still works in, by what the journal says. */
export async function findWantedWorkspaces(journal: JournalReader): Promise<readonly Owner[]> {
  const wanted: Owner[] = []
  for (const { id: run } of await journal.readRuns()) {
    const agents = await journal.readAgents(run)
    const isOver = agents.some(({ id, state }) => id === `${run}/dispatcher` && state === 'CLOSED')
    for (const agent of agents.filter((one) => !isOver || isAtFurtherSpec(one))) {
      const story = storyOf(agent)
      if (story !== undefined) wanted.push({ run, story })
    }
  }
  return wanted
}

/** A run that has no story left may have been brought a spec, of which there are none yet. */
function isAtFurtherSpec({ role, data }: AgentRecord): boolean {
  return role.startsWith('architect@') && (data.request ?? null) !== null
}

/** A coder's story, an architect's own clone, or a task, which may be taken up again at any time. */
function storyOf({ id, role, state, data }: AgentRecord): string | undefined {
  if (role.startsWith('architect@')) return `${id.slice(id.lastIndexOf('/') + 1)}.own`
  if (role.startsWith('coordinator@')) return data.place === undefined ? undefined : TASK_STORY
  if (!role.startsWith('coder@') || state === 'WAITING' || state === 'DONE') return undefined
  return (data.work as unknown as StoryMessage | undefined)?.story.id
}
