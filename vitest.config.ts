import { defineConfig } from 'vitest/config'
import { SUITES } from './test/suites.ts'

export default defineConfig({
  test: {
    projects: SUITES.map(({ name, include }) => ({
      test: { name, include: [...include], testTimeout: 60_000, hookTimeout: 120_000 },
    })),
  },
})
