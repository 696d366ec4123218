import type { TestCommand } from '../test-result.ts'
import type { WorkspaceFiles } from '../workspace-files.ts'

/** A command, and where it only stands for others, the text that has them. */
type FoundCommand = Omit<TestCommand, 'reports' | 'idle'> & { readonly script?: string }

/** One way in which repositories say how they are tested. Reads files, and executes nothing. */
export type Ecosystem = (files: WorkspaceFiles) => Promise<readonly FoundCommand[]>
