import { MACHINES } from '../src/machines/catalog.ts'
import { documentName, machineDocument, machinesIndex } from '../src/machines/document.ts'

/** Where the generated documents of the machines live. Nothing else may be in that folder. */
export const MACHINE_DOCUMENTS = 'docs/machines'

/** The content of every generated document, by path. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    [`${MACHINE_DOCUMENTS}/README.md`, machinesIndex()],
    ...MACHINES.map((machine): [string, string] => [
      `${MACHINE_DOCUMENTS}/${documentName(machine)}`,
      machineDocument(machine),
    ]),
  ])
}
