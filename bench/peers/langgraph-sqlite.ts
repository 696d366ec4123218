import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import manifest from '@langchain/langgraph/package.json' with { type: 'json' }
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { type DurableSubject, keepDelivering } from '../rounds.ts'

export const langgraphVersion: string = manifest.version

/**
 * A LangGraph graph with its SQLite checkpointer: one step of a node that does nothing for each
 * event, a thread for each agent. `durability: 'sync'` and `synchronous = FULL` make an answered
 * event as durable as the other subjects'; by default the checkpointer's driver chooses NORMAL,
 * with which a power cut may lose what was answered.
 */
export async function openLanggraph(folder: string, agents: number): Promise<DurableSubject> {
  const saver = SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))
  saver.db.pragma('journal_mode = WAL')
  saver.db.pragma('synchronous = FULL')
  const State = Annotation.Root({ count: Annotation<number> })
  const graph = new StateGraph(State)
    .addNode('work', ({ count }) => ({ count }))
    .addEdge(START, 'work')
    .addEdge('work', END)
    .compile({ checkpointer: saver })
  let count = 0
  return {
    run: (roundMs) =>
      keepDelivering(agents, roundMs, (lane) => {
        count += 1
        const configurable = { thread_id: `agent-${lane}` }
        return graph.invoke({ count }, { configurable, durability: 'sync' })
      }),
    async close() {
      saver.db.close()
    },
  }
}
