import { readFileSync } from 'node:fs'
import { configJsonSchema, keyTable, modelKeyTable } from '../src/cli/config/settings/key-table.ts'
import { MACHINES } from '../src/machines/catalog.ts'
import { documentName, machineDocument, machinesIndex } from '../src/machines/document.ts'
import { toolTable } from './tool-table.ts'

/** Where the generated documents of the machines live. Nothing else may be in that folder. */
export const MACHINE_DOCUMENTS = 'docs/machines'

const CONFIG_DOCUMENT = 'docs/configuration.md'
const TOOLS_DOCUMENT = 'docs/tools.md'

/** The content of every generated document, by path. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    [`${MACHINE_DOCUMENTS}/README.md`, machinesIndex()],
    ...MACHINES.map((machine): [string, string] => [
      `${MACHINE_DOCUMENTS}/${documentName(machine)}`,
      machineDocument(machine),
    ]),
    ['docs/slipway.schema.json', `${JSON.stringify(configJsonSchema(), null, 2)}\n`],
    [
      CONFIG_DOCUMENT,
      withTables(CONFIG_DOCUMENT, { keys: keyTable(), 'model keys': modelKeyTable() }),
    ],
    [TOOLS_DOCUMENT, withTables(TOOLS_DOCUMENT, { inputs: toolTable() })],
  ])
}

/** A document that people write, with the tables in it that nobody should have to. */
function withTables(path: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce(
    (text, [name, table]) => {
      const marks = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
      if (!marks.test(text)) throw new Error(`${path} has no place for its ${name}`)
      return text.replace(marks, (_, start, end) => `${start}\n${table}\n${end}`)
    },
    readFileSync(path, 'utf8'),
  )
}
