/** The layers of `src`, and which others each may import; itself always. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  machines: [],
  stories: [],
  ledger: [],
  agents: ['machines', 'stories', 'ledger'],
  runtime: ['machines', 'agents', 'stories', 'ledger'],
  journal: ['machines', 'agents', 'runtime'],
  effects: ['machines', 'agents', 'stories', 'ledger', 'runtime'],
  server: ['machines', 'agents', 'stories', 'ledger', 'runtime'],
  cli: ['machines', 'agents', 'stories', 'ledger', 'runtime', 'journal', 'effects', 'server'],
}

/** The layers that know nothing of the world: no Node, no packages, no clock, no randomness. */
export const PURE_LAYERS: readonly string[] = ['machines', 'stories', 'ledger', 'agents']
