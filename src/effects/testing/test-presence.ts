import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { doesNothing } from './empty-script.ts'
import { listFiles } from './file-listing.ts'

const SOURCE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|go|rs|java|kt|groovy|scala|cs|fs|vb|php|exs?|pl|t|c|cc|cpp|cxx|swift|dart|bats|feature)$/i

/** Folders and files whose name says that there are tests in them, in any language. */
const NAMED =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/|(?:^|[/._-])(?:tests?|specs?|cy|e2e)[._-][^/]*$|(?:Tests?|Specs?|IT)\.\w+$|(?:^|\/)Test[A-Z][^/]*$|\.(?:t|bats|feature)$/

/** The first words of a test, wherever it stands. */
const WRITTEN =
  /^[ \t]*(?:(?:test|it|describe)(?:\.\w+)* ?\(|def test_|#\[(?:\w+::)*(?:test|cfg\(test\))|@Test\b|add_test ?\()/m

const FILES_READ_MAX = 2_000
const FILE_BYTES_MAX = 262_144

/**
 * Whether a folder seems to have tests, by the names of its files and by what they hold. Nobody
 * knows but who runs them: in doubt it has some. Executes nothing, and never throws.
 */
export async function hasTests(folder: string): Promise<boolean> {
  const files = await listFiles(folder)
  if (files === undefined) return true
  const isRead = (path: string) => SOURCE.test(path) || /(?:^|\/)CMakeLists\.txt$/.test(path)
  const sources = files.filter(isRead)
  if (sources.length > FILES_READ_MAX) return true
  for (const path of sources) {
    const text = await readSource(join(folder, path))
    const isNamed = SOURCE.test(path) && NAMED.test(path)
    if (text === undefined ? isNamed : WRITTEN.test(text) || (isNamed && !doesNothing(text))) {
      return true
    }
  }
  return false
}

/** Undefined for what is too long, or cannot be read. */
async function readSource(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).size > FILE_BYTES_MAX ? undefined : await readFile(path, 'utf8')
  } catch {
    return undefined
  }
}
