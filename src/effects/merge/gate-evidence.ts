import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../../agents/values.ts'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import {
  holdAgainst,
  isUnproven,
  type ProvenCommand,
  provenByReading,
  provenIn,
} from '../testing/lost-evidence.ts'
import type { RunTestsInput, RunTestsValue } from '../testing/run-tests-handler.ts'
import { inFreshClone } from './gate.ts'

/** What the last gate showed of the commit that it let through. */
const RECORD = z.object({
  commit: z.string(),
  /** The commands that were configured then: with others, other things are shown. */
  configured: z.string(),
  proven: z.array(z.object({ argv: z.array(z.string()), cwd: z.string().nullable() })),
})

/** Where a gate looks for what its target showed. */
interface Ground {
  readonly git: Git
  readonly repositories: Repositories
  readonly stateFolder: string
}

type Settings = JsonObject | undefined

/**
 * Holds the tests of a merged tree against those of the commit that it was merged onto: as its own
 * gate found them, else by what its commands start and whether there are tests for it. No test is
 * run for that.
 */
export async function holdAgainstTarget(
  ground: Ground,
  settings: Settings,
  commit: string,
  result: RunTestsValue,
): Promise<RunTestsValue> {
  if (!isUnproven(result)) return result
  const [onto] = await ground.git.find(ground.repositories.work, [`${commit}^1`])
  return onto === undefined ? result : holdAgainst(await provenAt(ground, settings, onto), result)
}

async function provenAt(
  { git, repositories, stateFolder }: Ground,
  settings: Settings,
  commit: string,
): Promise<readonly ProvenCommand[]> {
  const record = await readFile(fileOf(stateFolder), 'utf8')
    .then((text) => RECORD.parse(JSON.parse(text)))
    .catch(() => undefined)
  if (record?.commit === commit && record.configured === configuredIn(settings)) {
    return record.proven
  }
  const given = settings?.commands as RunTestsInput['commands']
  return inFreshClone(git, repositories, stateFolder, commit, (folder) =>
    provenByReading(folder, given),
  )
}

/** Remembers what the gate of a merged commit showed, for the merge that comes next. Never rejects. */
export async function keepEvidence(
  { stateFolder }: Pick<Ground, 'stateFolder'>,
  settings: Settings,
  commit: string,
  result: RunTestsValue,
): Promise<void> {
  if (result.verdict !== 'passed') return
  const proven = provenIn(result).map(({ argv, cwd }) => ({ argv: [...argv], cwd }))
  const record: z.infer<typeof RECORD> = { commit, configured: configuredIn(settings), proven }
  const file = fileOf(stateFolder)
  try {
    await writeFile(`${file}.draft`, JSON.stringify(record))
    await rename(`${file}.draft`, file)
  } catch {
    // The merge is done. Without the record, the next gate looks at the files of the target.
  }
}

function fileOf(stateFolder: string): string {
  return join(stateFolder, 'gate.json')
}

function configuredIn(settings: Settings): string {
  return JSON.stringify(settings?.commands ?? null)
}
