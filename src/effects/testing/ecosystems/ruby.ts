import type { TestCommand } from '../test-result.ts'
import type { Ecosystem } from './ecosystem.ts'

const TEST_TASK =
  /\b(?:Rake|Minitest)::TestTask\b|^ {0,9}task {0,9}\(? {0,9}(?::test\b|["']test["']|test:)/m

/** RSpec, and the tests that Rails or rake start. */
export const ruby: Ecosystem = async (files) => {
  const commands: TestCommand[] = []
  const bundle = (await files.has('Gemfile')) ? (['bundle', 'exec'] as const) : ([] as const)
  const specs = await files.filesIn('spec', /_(?:spec|helper)\.rb$/)
  const rspec = (await files.has('.rspec')) ? '.rspec' : specs[0] && `spec/${specs[0]}`
  if (rspec) {
    commands.push({
      argv: [...bundle, 'rspec'] as TestCommand['argv'],
      reason: `there is ${rspec}`,
    })
  }
  const hasTests = await files.hasFolder('test')
  if (hasTests && (await files.filesIn('bin', /^rails$/)).length > 0) {
    commands.push({ argv: ['bin/rails', 'test'], reason: 'there is bin/rails and a folder test' })
    return commands
  }
  const rakefile = await files.firstOf('Rakefile', 'rakefile', 'Rakefile.rb')
  if (rakefile !== undefined && TEST_TASK.test((await files.read(rakefile)) ?? '')) {
    const argv = [...bundle, 'rake', 'test'] as TestCommand['argv']
    commands.push({ argv, reason: `${rakefile} has a task "test"` })
  }
  return commands
}
