import type { TestCommand } from '../test-result.ts'
import type { WorkspaceFiles } from '../workspace-files.ts'

/** One way in which repositories say how they are tested. Reads files, and executes nothing. */
export type Ecosystem = (files: WorkspaceFiles) => Promise<readonly TestCommand[]>
