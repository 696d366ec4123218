import { deno } from './ecosystems/deno.ts'
import { dotnet } from './ecosystems/dotnet.ts'
import type { Ecosystem } from './ecosystems/ecosystem.ts'
import { go } from './ecosystems/go.ts'
import { jvm } from './ecosystems/jvm.ts'
import { make } from './ecosystems/make.ts'
import { nodePackage } from './ecosystems/node-package.ts'
import { perl } from './ecosystems/perl.ts'
import { php } from './ecosystems/php.ts'
import { python } from './ecosystems/python.ts'
import { ruby } from './ecosystems/ruby.ts'
import { judgeScript } from './ecosystems/script.ts'
import { singleFile } from './ecosystems/single-file.ts'
import type { TestCommand } from './test-result.ts'
import { type Remark, WorkspaceFiles } from './workspace-files.ts'

/** In the order in which their commands are run. */
const ECOSYSTEMS: readonly Ecosystem[] = [
  nodePackage,
  deno,
  python,
  go,
  singleFile,
  jvm,
  dotnet,
  ruby,
  php,
  perl,
  make,
]

/** How a workspace is tested, and what stood in the way of knowing it. */
export interface DetectedCommands {
  readonly commands: readonly TestCommand[]
  readonly remarks: readonly Remark[]
}

/**
 * Finds the test commands of every ecosystem at the root of a workspace. What it reads is not
 * trusted: it executes nothing, follows no link that leads outside, and never throws.
 */
export async function detectTestCommands(workspace: string): Promise<DetectedCommands> {
  const files = new WorkspaceFiles(workspace)
  const commands: TestCommand[] = []
  for (const ecosystem of ECOSYSTEMS) {
    for (const { script, ...command } of await ecosystem(files)) {
      const { reports } = judgeScript(script ?? command.argv.join(' '))
      commands.push(reports === undefined ? command : { ...command, reports })
    }
  }
  return { commands, remarks: files.remarks }
}
