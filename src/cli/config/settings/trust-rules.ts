/**
 * What a repository's file may do before its user trusts it: set a harmless value, make a number
 * lower than it would be, move towards the end of an order, or nothing.
 */
export type TrustRule = 'free' | 'lower' | 'trusted' | readonly unknown[]

const LOOSE_TO_STRICT = {
  unpriced: [true, null, false],
  plan: [null, 'auto', 'model', 'human'],
  spec: ['auto', 'human'],
  report: [false, true],
  reset: [true, false],
  forge: ['github', 'local'],
  level: ['none', 'auto', 'container', 'bubblewrap'],
} as const

/** The rule of every setting. Whatever leads outside, starts something or costs more needs trust. */
export const TRUST_RULES: Readonly<Record<string, TrustRule>> = {
  target: 'free',
  'models.default': 'trusted',
  'models.pm': 'trusted',
  'models.architect': 'trusted',
  'models.coder': 'trusted',
  'models.reviewer': 'trusted',
  'models.tester': 'trusted',
  'budget.run.dollars': 'lower',
  'budget.run.tokens': 'lower',
  'budget.run.iterations': 'lower',
  'budget.run.hours': 'lower',
  'budget.story.dollars': 'lower',
  'budget.story.tokens': 'lower',
  'budget.story.iterations': 'lower',
  'budget.story.hours': 'lower',
  'budget.allowUnpriced': LOOSE_TO_STRICT.unpriced,
  'limits.planningTurns': 'lower',
  'limits.codingTurns': 'lower',
  'limits.fixingTurns': 'lower',
  'limits.reviewTurns': 'lower',
  'limits.planRounds': 'lower',
  'limits.codeRounds': 'lower',
  'limits.specRounds': 'lower',
  'limits.budgetGrants': 'lower',
  'limits.sameFailures': 'lower',
  'limits.attempts': 'lower',
  'limits.taskRounds': 'lower',
  'limits.escalationHours': 'lower',
  'limits.restarts': 'lower',
  'limits.restartMinutes': 'trusted',
  'outage.probeSeconds': 'trusted',
  'outage.minutes': 'lower',
  'outage.waitForReset': LOOSE_TO_STRICT.reset,
  'team.coders': 'lower',
  'team.architects': 'lower',
  'revisions.coder': 'free',
  'revisions.architect': 'free',
  'revisions.coordinator': 'free',
  'review.plan': LOOSE_TO_STRICT.plan,
  'review.spec': LOOSE_TO_STRICT.spec,
  'tests.commands': 'trusted',
  'tests.timeoutMinutes': 'lower',
  'tests.requireReport': LOOSE_TO_STRICT.report,
  'forge.kind': LOOSE_TO_STRICT.forge,
  'forge.apiUrl': 'trusted',
  'forge.checksGraceSeconds': 'trusted',
  'isolation.level': LOOSE_TO_STRICT.level,
  'isolation.image': 'trusted',
  'isolation.engine': 'trusted',
  'isolation.hosts': 'trusted',
  'isolation.toolFolders': 'trusted',
}

/** Whether a file that is not trusted may put `wanted` in the place of `present`. */
export function isHarmless(rule: TrustRule, wanted: unknown, present: unknown): boolean {
  if (rule === 'free') return true
  if (rule === 'trusted') return false
  if (rule === 'lower') return Number(wanted) <= Number(present)
  return rule.indexOf(wanted) >= rule.indexOf(present)
}

/** A rule in words for people. */
export function describeRule(rule: TrustRule): string {
  if (rule === 'free') return 'any'
  if (rule === 'trusted') return 'none'
  if (rule === 'lower') return 'lower'
  return 'stricter'
}
