import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { FAILURE_POLICY } from '../../src/effects/brains/failure-policy.ts'
import { readScenario } from '../../src/effects/brains/scenario.ts'
import { TOOL_NAMES } from '../../src/effects/tools/toolbox.ts'

const DOCUMENT = new URL('../../docs/brains.md', import.meta.url)

test('the table of failures in docs/brains.md is that of the code', async () => {
  const text = await readFile(DOCUMENT, 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]+ \| `(\w+)` \|$/gm)]
  const table = Object.fromEntries(rows.map(([, kind, policy]) => [kind, policy]))
  expect(rows).toHaveLength(Object.keys(table).length)
  expect(table).toEqual(FAILURE_POLICY)
})

test('docs/brains.md explains everything that happens', async () => {
  const text = await readFile(DOCUMENT, 'utf8')
  const explained = [...text.matchAll(/^- `(\w+)`: /gm)].map(([, policy]) => policy)
  expect(explained.toSorted()).toEqual([...new Set(Object.values(FAILURE_POLICY))].toSorted())
})

test('the scenario in docs/brains.md can be played', async () => {
  const text = await readFile(DOCUMENT, 'utf8')
  const [, scenario = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? []
  expect(readScenario(scenario, 'docs/brains.md')).toMatchObject({ ok: true })
  const called = scenario.matchAll(/call: (\w+)/g)
  for (const [, name] of called) expect(TOOL_NAMES).toContain(name)
})
