import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import manifest from '@langchain/langgraph/package.json' with { type: 'json' }
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { type DurableSubject, keepDelivering } from '../rounds.ts'

export const langgraphVersion: string = manifest.version

/**
 * A LangGraph graph with its SQLite checkpointer: a node that does nothing, a thread for each
 * agent, `steps` steps for each event from outside. One step is what an event of ours does; with
 * more, LangGraph saves itself the checkpoint of the input, and nobody waits for a single step.
 * `durability: 'sync'` and `synchronous = FULL` make an answered event as durable as the other
 * subjects'; by default the checkpointer's driver chooses NORMAL, with which a power cut may lose
 * what was answered.
 */
export async function openLanggraph(
  folder: string,
  agents: number,
  steps: number,
): Promise<DurableSubject> {
  const saver = SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))
  saver.db.pragma('journal_mode = WAL')
  saver.db.pragma('synchronous = FULL')
  const State = Annotation.Root({ rest: Annotation<number> })
  const graph = new StateGraph(State)
    .addNode('work', ({ rest }) => ({ rest: rest - 1 }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ rest }) => (rest > 0 ? 'work' : END))
    .compile({ checkpointer: saver })
  return {
    async run(roundMs) {
      const round = await keepDelivering(agents, roundMs, (lane) =>
        graph.invoke(
          { rest: steps },
          {
            configurable: { thread_id: `agent-${lane}` },
            durability: 'sync',
            recursionLimit: steps + 1,
          },
        ),
      )
      return { ...round, transitions: round.transitions * steps }
    },
    async close() {
      saver.db.close()
    },
  }
}
