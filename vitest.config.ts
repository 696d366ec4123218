import { defineConfig } from 'vitest/config'
import { SUITES } from './test/suites.ts'

export default defineConfig({
  test: {
    // Tests wait for processes and for the disk more than they work.
    maxWorkers: 3,
    projects: SUITES.map(({ name, include, isAlone, isShared }) => ({
      test: {
        name,
        include: [...include],
        testTimeout: 60_000,
        hookTimeout: 120_000,
        isolate: !isShared,
        // Groups run one after the other.
        sequence: { groupOrder: isAlone ? 1 : 0 },
        maxWorkers: isAlone ? 1 : 3,
      },
    })),
  },
})
