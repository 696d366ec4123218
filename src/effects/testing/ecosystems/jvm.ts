import type { TestCommand } from '../test-result.ts'
import type { WorkspaceFiles } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'

/** Maven and Gradle, by the wrapper that the repository brings where there is one. */
export const jvm: Ecosystem = async (files) => {
  const commands: TestCommand[] = []
  if (await files.has('pom.xml')) {
    const start = await starter(files, 'mvnw', 'mvn')
    commands.push({ argv: [...start, '--batch-mode', 'test'], reason: 'there is a pom.xml' })
  }
  const gradle = await files.firstOf(
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
  )
  if (gradle !== undefined) {
    const start = await starter(files, 'gradlew', 'gradle')
    commands.push({ argv: [...start, 'test'], reason: `there is a ${gradle}` })
  }
  return commands
}

async function starter(
  files: WorkspaceFiles,
  wrapper: string,
  command: string,
): Promise<readonly [string, ...string[]]> {
  if (await files.isExecutable(wrapper)) return [`./${wrapper}`]
  // Its permission is easily lost, on a checkout from Windows for one.
  return (await files.has(wrapper)) ? ['sh', `./${wrapper}`] : [command]
}
