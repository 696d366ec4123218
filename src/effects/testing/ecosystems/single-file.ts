import type { TestCommand } from '../test-result.ts'
import type { Ecosystem } from './ecosystem.ts'

/** A file whose presence says it all. */
interface Rule {
  readonly file: string
  readonly argv: TestCommand['argv']
  /** The command when the file has this in it. */
  readonly when?: { readonly pattern: RegExp; readonly argv: TestCommand['argv'] }
}

const RULES: readonly Rule[] = [
  {
    file: 'Cargo.toml',
    argv: ['cargo', 'test'],
    // Without it, a package at the root is the only one that is tested.
    when: { pattern: /^\[workspace[\].]/m, argv: ['cargo', 'test', '--workspace'] },
  },
  { file: 'mix.exs', argv: ['mix', 'test'] },
  { file: 'Package.swift', argv: ['swift', 'test'] },
  {
    file: 'pubspec.yaml',
    argv: ['dart', 'test'],
    when: { pattern: /^ {1,9}sdk: flutter$/m, argv: ['flutter', 'test'] },
  },
  { file: 'build.sbt', argv: ['sbt', 'test'] },
  { file: 'project.clj', argv: ['lein', 'test'] },
  { file: 'stack.yaml', argv: ['stack', 'test'] },
  { file: 'build.zig', argv: ['zig', 'build', 'test'] },
]

/** The ecosystems that need no more than a look at one file. */
export const singleFile: Ecosystem = async (files) => {
  const commands: TestCommand[] = []
  for (const { file, argv, when } of RULES) {
    if (!(await files.has(file))) continue
    const found = when?.pattern.test((await files.read(file)) ?? '') === true
    commands.push({ argv: found && when ? when.argv : argv, reason: `there is a ${file}` })
  }
  return commands
}
