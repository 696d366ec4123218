/** A configuration that says nothing yet, and shows what could be said. */
export const CONFIG_TEMPLATE = `# yaml-language-server: $schema=.slipway/slipway.schema.json
# Everything here is optional: with the key of a provider in the environment nothing has to be said.
# \`slipway config show\` prints what holds; \`slipway config schema\` describes every key.
# Models, commands, hosts and the like hold once you \`slipway config trust\` this file: you after each
# edit, and whoever clones this repository.

# The branch that stories are merged into.
# target: main

# Who thinks. A key is never written here, only the name of the variable that holds it.
# models:
#   default:
#     provider: anthropic
#     apiKeyEnv: ANTHROPIC_API_KEY
#   coder:
#     agent: claude

# What a run and a story may spend at most.
# budget:
#   run: { dollars: 20, hours: 12 }
#   story: { dollars: 5 }

# How many work at once.
# team: { coders: 3, architects: 2 }

# Who looks at plans and specs before work begins: auto, model (plans only) or human.
# review: { plan: model, spec: human }

# How the repository is tested, if that cannot be seen from its files.
# tests:
#   commands: [[npm, test]]
#   timeoutMinutes: 30

# What commands may reach. The strongest isolation that works is chosen.
# isolation:
#   hosts: [registry.npmjs.org]
`

/** A spec that shows its own shape. */
export const SPEC_TEMPLATE = `# What is to be built

Say in a few sentences what is wanted, for whom, and why.

## Acceptance criteria

1. What can be seen from outside when it is done, one thing for each number.
2. How a mistake of the user is answered.

## Not wanted

- What should stay as it is.
`
