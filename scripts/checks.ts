/** The static checks by name: each is a command of a package, with its arguments. */
export const CHECKS = {
  'format, lint and boundaries': ['biome', 'check', '--error-on-warnings'],
  types: ['tsc'],
  'unused code': ['knip', '--no-progress'],
  'generated documents and published tables': ['tsx', 'scripts/check-generated.ts'],
} as const satisfies Record<string, readonly [command: string, ...args: string[]]>
