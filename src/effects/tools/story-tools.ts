import { z } from 'zod'
import { shorten, shortenParts } from './output-files.ts'
import { describeTests } from './tests-in-words.ts'
import { defineTool, refused, said } from './tool.ts'

/** For those who write: runs the tests as they will be run afterwards. */
export const TEST_TOOLS = [
  defineTool({
    name: 'run_tests',
    description:
      'Runs the tests of the repository, the way they are run when you are done. What they write is undone afterwards, but for ignored files.',
    schema: z.strictObject({}),
    isReadOnly: false,
    async run(_, { runTests, outputs, signal }) {
      if (runTests === undefined) return refused('there is nothing to test here')
      const tests = await runTests(signal)
      const dropped = tests.result.commands.reduce((sum, each) => sum + each.droppedBytes, 0)
      const text = await shortenParts(describeTests(tests), outputs, dropped)
      return { text, isError: tests.result.verdict !== 'passed' }
    },
  }),
]

/** For those who judge: what the story changes. */
export const DIFF_TOOLS = [
  defineTool({
    name: 'get_diff',
    description: 'Shows what the story changes, or what it changes in one file or folder.',
    schema: z.strictObject({ path: z.string().min(1).max(4_096).optional() }),
    isReadOnly: true,
    async run({ path }, { readDiff, outputs }) {
      if (readDiff === undefined) return refused('there is no story here')
      const diff = await readDiff(path)
      return said(diff === '' ? '[no change]' : await shorten(diff, outputs))
    },
  }),
]
