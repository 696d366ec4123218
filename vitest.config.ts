import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { scratchEnvironment } from './test/scratch.ts'
import { SUITES } from './test/suites.ts'

const inMemory = scratchEnvironment()

export default defineConfig({
  test: {
    // Tests wait for processes and for the disk more than they work.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: SUITES.map(({ name, include, isAlone, isShared, isAboutDisks }) => ({
      test: {
        name,
        include: [...include],
        env: isAboutDisks ? {} : inMemory,
        testTimeout: 60_000,
        hookTimeout: 120_000,
        // A second, which is what else holds, is not long on a busy machine.
        expect: { poll: { timeout: 20_000 } },
        isolate: !isShared,
        // Groups run one after the other.
        sequence: { groupOrder: isAlone ? 1 : 0 },
        maxWorkers: isAlone ? 1 : 4,
      },
    })),
  },
})
