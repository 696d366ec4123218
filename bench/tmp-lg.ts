import { buildBetterSqlite3 } from './peers/better-sqlite3.ts'
import { makeFolder } from './disk.ts'
import { takeTurns } from './rounds.ts'
await buildBetterSqlite3()
const { openLanggraph } = await import('./peers/langgraph-sqlite.ts')
const { openXstate } = await import('./peers/xstate-sqlite.ts')
const { Annotation, END, START, StateGraph } = await import('@langchain/langgraph')
const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite')
for (const n of [1, 100]) {
  const lg = await openLanggraph(makeFolder('lg'), n)
  const xs = await openXstate(makeFolder('xs'), n)
  console.log(n, await takeTurns({ lg, xs }, 3, 1500))
  // loop variant
  const saver = SqliteSaver.fromConnString(makeFolder('l2') + '/a.db')
  saver.db.pragma('journal_mode = WAL'); saver.db.pragma('synchronous = FULL')
  const State = Annotation.Root({ count: Annotation<number> })
  const graph = new StateGraph(State).addNode('work', ({ count }) => ({ count: count + 1 })).addEdge(START, 'work')
    .addConditionalEdges('work', ({ count }) => count % 500 === 0 ? END : 'work').compile({ checkpointer: saver })
  const t = performance.now()
  await Promise.all(Array.from({ length: n }, (_, i) => graph.invoke({ count: n === 1 ? 0 : 450 }, { configurable: { thread_id: `${i}` }, durability: 'sync', recursionLimit: 100000 })))
  console.log('loop', (n === 1 ? 500 : 5000) * 1000 / (performance.now() - t), saver.db.prepare('select count(*) c from checkpoints').get(), saver.db.prepare('select count(*) c from writes').get())
  await lg.close(); await xs.close()
}
