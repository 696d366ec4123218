import { existsSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take minutes, the longest first. They are short to read, so vitest has them last. */
const LONGEST: readonly string[] = ['test/team/team.test.ts', 'test/task/task.test.ts']

/** Begins with the files that take longest: one that begins last is waited for alone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const path of LONGEST) if (!existsSync(path)) throw new Error(`there is no ${path}`)
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`))
      return place === -1 ? LONGEST.length : place
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || placeOf(a) - placeOf(b))
  }
}
