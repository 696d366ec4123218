/** The static checks by name: each is a command of a package, with its arguments. */
export const CHECKS = {
  'format and lint': ['biome', 'check', '--error-on-warnings'],
  boundaries: ['tsx', 'scripts/check-boundaries.ts'],
  types: ['tsc'],
  'types of the pure core': ['tsc', '-p', 'tsconfig.core.json'],
  'unused code': ['knip', '--no-progress'],
  'generated documents and published tables': ['tsx', 'scripts/check-generated.ts'],
} as const satisfies Record<string, readonly [command: string, ...args: string[]]>
