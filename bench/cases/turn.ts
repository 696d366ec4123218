import { readFileSync } from 'node:fs'
import { type Conversant, type Conversation, measureConversation } from '../conversation.ts'
import { CODING_AGENTS } from '../peers/coding-agents.ts'
import { median } from '../rate.ts'
import { atLeast, type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'
import { limitConversant, peerConversant, slipwayConversant } from '../subjects/turns.ts'

const GOAL_SHARE_OF_FASTEST = 0.5
const GOAL_CACHED_PERCENT = 95
const STORY_TURNS = 30

/** What the leanest peer has too, and a search. */
const EQUAL_TOOLS = ['read_file', 'edit_file', 'write_file', 'shell', 'search_text', 'done']

/** How fast a reply becomes the next request, with one trivial shell command between. */
export const turnaround: BenchmarkCase = {
  summary: 'from a reply to the next request with a shell call between, beside coding agents',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const [rounds, calls, storyTurns] = quick ? [1, 3, 5] : [6, 10, STORY_TURNS]
  const version = JSON.parse(readFileSync('package.json', 'utf8')).version
  const slipway = slipwayConversant({ version, opening: 'short' })
  const leanSlipway = slipwayConversant({ version, opening: 'short', tools: EQUAL_TOOLS })
  const storyteller = slipwayConversant({ version, opening: 'story' })
  // The fastest is enough to show that the benchmark works.
  const agents = quick ? CODING_AGENTS.filter(({ name }) => name === 'pi') : CODING_AGENTS
  const peers = agents.flatMap((agent) => peerConversant(agent) ?? [])
  for (const { name } of agents) {
    if (peers.some((peer) => peer.name === name)) continue
    process.stderr.write(`${name} is not installed (npm ci --prefix test/agents): left out\n`)
  }
  const limit = limitConversant(version)
  const taken = await takeTurns([slipway, limit, ...peers], rounds, calls)
  const lean = await measureConversation(leanSlipway, 1, echo)
  const story = await measureConversation(storyteller, storyTurns - 1, readSome)
  return {
    ...summarise({ slipway, limit, peers }, taken, { lean, story }),
    versions: Object.fromEntries(peers.map((peer) => [peer.name, peer.version])),
  }
}

/** No two are the same: whoever repeats a call is told so. */
function echo(call: number): string {
  return `echo ${call}`
}

/** What a coder looks at: twenty lines of some file. */
function readSome(call: number): string {
  return `seq -f 'line %g of file ${call}, as long as lines are' 20`
}

type Taken = ReadonlyMap<string, readonly Conversation[]>

/** Rounds in turn, so that a busy machine slows all of them; of several the first warms up. */
async function takeTurns(
  conversants: readonly Conversant[],
  rounds: number,
  calls: number,
): Promise<Taken> {
  const taken = new Map<string, Conversation[]>(conversants.map(({ name }) => [name, []]))
  for (let round = 1; round <= rounds; round += 1) {
    for (const conversant of conversants) {
      const conversation = await measureConversation(conversant, calls, echo)
      if (round > 1 || rounds === 1) taken.get(conversant.name)?.push(conversation)
    }
  }
  return taken
}

interface Subjects {
  readonly slipway: Conversant
  readonly limit: Conversant
  readonly peers: readonly Conversant[]
}

function summarise(
  { slipway, limit, peers }: Subjects,
  taken: Taken,
  { lean, story }: { readonly lean: Conversation; readonly story: Conversation },
): Pick<Measurements, 'rows' | 'goals'> {
  const turnaroundOf = ({ name }: Conversant, round: number) =>
    median(taken.get(name)?.[round]?.turnaroundsMs ?? [])
  const bytesOf = ({ name }: Conversant) => taken.get(name)?.[0]?.firstRequestBytes ?? Number.NaN
  const rows = [slipway, limit, ...peers].flatMap((conversant) => {
    const { name: subject } = conversant
    const all = taken.get(subject)?.flatMap(({ turnaroundsMs }) => turnaroundsMs) ?? []
    return [
      { subject, metric: 'turnaround, median', value: median(all), unit: 'ms' },
      { subject, metric: 'turnaround, best', value: Math.min(...all), unit: 'ms' },
      { subject, metric: 'first request', value: bytesOf(conversant), unit: 'B' },
    ]
  })
  const subject = 'slipway'
  const cachedPercent = (100 * story.cachedTokens) / story.inputTokens
  const equal = 'first request at equal tools'
  rows.push({ subject, metric: equal, value: lean.firstRequestBytes, unit: 'B' })
  rows.push({ subject, metric: 'input from the cache', value: cachedPercent, unit: '%' })
  const commonPercent = (100 * story.commonTokens) / story.inputTokens
  rows.push({ subject, metric: 'input that was sent before', value: commonPercent, unit: '%' })
  const cached = atLeast(
    `input from the cache in ${story.turns} turns, %`,
    GOAL_CACHED_PERCENT,
    cachedPercent,
  )
  if (peers.length === 0) return { rows, goals: [cached] }
  const roundCount = taken.get(slipway.name)?.length ?? 0
  const shareOf = (one: Conversant, others: readonly Conversant[]) =>
    median(
      Array.from({ length: roundCount }, (_, round) => {
        const fastest = Math.min(...others.map((other) => turnaroundOf(other, round)))
        return turnaroundOf(one, round) / fastest
      }),
    )
  rows.push(
    { subject, metric: 'times its parts alone', value: shareOf(slipway, [limit]), unit: '' },
    {
      subject: limit.name,
      metric: 'share of the fastest peer',
      value: shareOf(limit, peers),
      unit: '',
    },
  )
  const smallest = Math.min(...peers.map(bytesOf))
  return {
    rows,
    goals: [
      below(
        'turnaround, share of the fastest peer',
        GOAL_SHARE_OF_FASTEST,
        shareOf(slipway, peers),
      ),
      below(`${equal}, B`, smallest, lean.firstRequestBytes),
      cached,
    ],
  }
}
