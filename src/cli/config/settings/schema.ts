import { z } from 'zod'

/** Providers and agents that can be named; tests hold them against what brains there are. */
export const PROVIDERS = ['anthropic', 'openai', 'google', 'ollama', 'openai-compatible'] as const
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode'] as const

const name = z.string().min(1).max(200)
const url = z.string().max(2_048)
const argv = z
  .array(z.string().max(4_096), 'has to be a list of its words, such as [npm, test]')
  .min(1)
  .max(64)
const turns = z.int().min(1).max(1_000)
const rounds = z.int().min(1).max(20)
const tokens = z.int().min(1_000).max(10_000_000)
const dollars = z.number().min(0).max(100_000)
const perMillion = z.number().min(0).max(10_000)
const variable = z.string().max(128)
const hosts = z.array(z.string().max(259)).max(64)

const PRICES = z.strictObject({
  input: perMillion.describe('input'),
  cached: perMillion.optional().describe("input that the provider's cache served"),
  cacheWrite: perMillion.optional().describe('input that was written to the cache'),
  output: perMillion.describe('output'),
})

const MODEL_KEYS = {
  provider: z.enum(PROVIDERS).optional().describe('who is asked'),
  model: name.optional().describe("which model; absent, one is chosen from the provider's list"),
  baseUrl: url.optional().describe("an address other than the provider's own"),
  apiKeyEnv: variable.optional().describe('the name of the environment variable with the key'),
  contextTokens: tokens.optional().describe('how much a conversation may hold, reply included'),
  outputTokens: tokens.optional().describe('how long a reply may be'),
  prices: PRICES.optional().describe('dollars for a million tokens'),
}

const AGENT = z.union([
  z.enum(AGENT_NAMES),
  z.strictObject({
    command: argv.describe('an argument list that speaks the Agent Client Protocol'),
    variables: z
      .array(variable)
      .max(32)
      .optional()
      .describe('names of the environment variables that it is given'),
    hosts: hosts.optional().describe('hosts that it may reach'),
    addresses: z.array(url).max(16).optional().describe('addresses on this machine likewise'),
  }),
])

const MODEL = z.strictObject(MODEL_KEYS)
const MODEL_OR_AGENT = z.strictObject({
  ...MODEL_KEYS,
  agent: AGENT.optional().describe('an external agent in the place of a model'),
})

const COMMAND = z.union([
  argv,
  z.strictObject({
    argv,
    cwd: z.string().min(1).max(1_024).optional().describe('a folder below the repository'),
  }),
])

/** What may be limited, of a run and of a story. */
export const BUDGET = {
  dollars: dollars.optional(),
  tokens: z.int().min(1).max(1e12).optional(),
  iterations: z.int().min(1).max(1e9).optional(),
  hours: z.number().min(0.01).max(8_760).optional(),
}

/** What a configuration file may say. Everything is optional, and nothing else is accepted. */
export const CONFIG_FILE = z.strictObject({
  $schema: z.string().max(2_048).optional().describe('for editors; ignored'),
  target: name.optional().describe('The branch that stories are merged into.'),
  models: z
    .strictObject({
      default: MODEL.optional().describe('Who thinks for the roles that have no entry.'),
      pm: MODEL.optional().describe('Who thinks for the product manager.'),
      architect: MODEL_OR_AGENT.optional().describe(
        'Who thinks for the architects: a model or an external agent.',
      ),
      coder: MODEL_OR_AGENT.optional().describe(
        'Who thinks for the coders: a model or an external agent.',
      ),
      reviewer: MODEL_OR_AGENT.optional().describe(
        'Who reviews in a task: a model or an external agent.',
      ),
      tester: MODEL_OR_AGENT.optional().describe(
        'Who says in a task how it is tested: a model or an external agent.',
      ),
    })
    .optional(),
  budget: z
    .strictObject({
      run: z
        .strictObject({
          dollars: BUDGET.dollars.describe('The most that a run may cost.'),
          tokens: BUDGET.tokens.describe('Input and output of a run together.'),
          iterations: BUDGET.iterations.describe('Calls of models in a run.'),
          hours: BUDGET.hours.describe(
            'The time of a run by the clock, pauses and outages included.',
          ),
        })
        .optional(),
      story: z
        .strictObject({
          dollars: BUDGET.dollars.describe('The most that a story may cost.'),
          tokens: BUDGET.tokens.describe('Input and output of a story together.'),
          iterations: BUDGET.iterations.describe('Calls of models for a story.'),
          hours: BUDGET.hours.describe(
            'The time of a story, by the clock, from its first call of a model on.',
          ),
        })
        .optional(),
      allowUnpriced: z
        .boolean()
        .optional()
        .describe('Whether models without a known price may be asked though dollars are limited.'),
    })
    .optional(),
  limits: z
    .strictObject({
      planningTurns: turns.optional().describe('Turns of a coder who plans.'),
      codingTurns: turns.optional().describe('Turns of a coder who codes.'),
      fixingTurns: turns.optional().describe('Turns of a coder who fixes.'),
      reviewTurns: turns.optional().describe('Turns of an architect who reviews.'),
      planRounds: rounds.optional().describe('How often a plan may be sent back.'),
      codeRounds: rounds.optional().describe('How often code may be sent back.'),
      specRounds: rounds.optional().describe('How often a spec may be sent back.'),
      budgetGrants: z
        .int()
        .min(0)
        .max(20)
        .optional()
        .describe('How often a budget review may grant more turns.'),
      sameFailures: rounds
        .optional()
        .describe('How often tests may fail in the same way before a budget review.'),
      attempts: z.int().min(1).max(10).optional().describe('How often a story is taken up.'),
      taskRounds: rounds
        .optional()
        .describe('How often coder, reviewer and tester of a task may go round.'),
      escalationHours: z
        .number()
        .min(0.01)
        .max(8_760)
        .optional()
        .describe('How long a human is waited for.'),
      restarts: z
        .int()
        .min(0)
        .max(100)
        .optional()
        .describe(
          'How often an agent that failed is born again within the time of restartMinutes.',
        ),
      restartMinutes: z
        .number()
        .min(0.1)
        .max(1_440)
        .optional()
        .describe('The time in which restarts are counted.'),
    })
    .optional(),
  outage: z
    .strictObject({
      probeSeconds: z
        .int()
        .min(1)
        .max(3_600)
        .optional()
        .describe('How often a provider that is out is asked whether it is back.'),
      minutes: z
        .number()
        .min(0.1)
        .max(10_080)
        .optional()
        .describe('How long a provider may be out before what waits for it has failed.'),
      waitForReset: z
        .boolean()
        .optional()
        .describe('Whether a time that the provider names is waited for, however far off.'),
    })
    .optional(),
  team: z
    .strictObject({
      coders: z.int().min(1).max(100).optional().describe('Coders that work at once.'),
      architects: z
        .int()
        .min(1)
        .max(10)
        .optional()
        .describe('Architects of a run; where all of them wait for you, there is one more.'),
    })
    .optional(),
  revisions: z
    .strictObject({
      coder: z.enum(['D', 'F']).optional().describe('The machine that coders obey.'),
      architect: z.enum(['D', 'I']).optional().describe('The machine that architects obey.'),
      coordinator: z.enum(['1', '2']).optional().describe('The machine that a task obeys.'),
    })
    .optional(),
  review: z
    .strictObject({
      plan: z
        .enum(['auto', 'model', 'human'])
        .optional()
        .describe("Who judges plans: nobody, the architect's model, or you."),
      spec: z
        .enum(['auto', 'human'])
        .optional()
        .describe('Whether you see a spec before the architect does.'),
    })
    .optional(),
  tests: z
    .strictObject({
      commands: z
        .array(COMMAND)
        .min(1)
        .max(16)
        .optional()
        .describe('How the repository is tested: argument lists, run in the sandbox.'),
      timeoutMinutes: z
        .number()
        .min(0.1)
        .max(600)
        .optional()
        .describe('For all test commands together.'),
      requireReport: z
        .boolean()
        .optional()
        .describe(
          'Whether exit code 0 is not enough without a report of tests, also of commands whose runner is not known.',
        ),
    })
    .optional(),
  forge: z
    .strictObject({
      kind: z.enum(['local', 'github']).optional().describe('Where pull requests are.'),
      apiUrl: url.optional().describe('The API of a GitHub Enterprise server.'),
      checksGraceSeconds: z
        .number()
        .min(0)
        .max(3_600)
        .optional()
        .describe(
          'How long checks that GitHub does not require may take to show before a merge goes without them.',
        ),
    })
    .optional(),
  isolation: z
    .strictObject({
      level: z
        .enum(['auto', 'bubblewrap', 'container', 'none'])
        .optional()
        .describe(
          'How commands are confined; `auto` is the strongest that works, and `none` only where there is no program for another.',
        ),
      image: name.optional().describe('The image of containers; makes them the first choice.'),
      engine: z.enum(['podman', 'docker']).optional().describe('What runs containers.'),
      hosts: hosts
        .optional()
        .describe('Hosts that commands may reach: `x.org`, `*.x.org` for all below, `x.org:8443`.'),
      toolFolders: z
        .array(z.string().min(1).max(1_024))
        .max(32)
        .optional()
        .describe('Folders with tools that commands may read, such as `~/.cargo`.'),
    })
    .optional(),
})

/** A configuration file as it was written. */
export type ConfigFile = z.infer<typeof CONFIG_FILE>

/** What is said about a model or, for coders and architects, about an agent in its place. */
export type ModelEntry = z.infer<typeof MODEL>
export type BrainEntry = z.infer<typeof MODEL_OR_AGENT>

/** A test command: an argument list, or one with its folder. */
export type ConfiguredCommand = z.infer<typeof COMMAND>
