import type { WorkspaceFiles } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'
import { runsNothing } from './script.ts'

/** How many rules are followed from one target to those that it needs. */
const RULES_MAX = 20

/** A Makefile with a target `test`, or else `check`, that does more than print. */
export const make: Ecosystem = async (files) => {
  const { name, lines } = await readMakefile(files)
  const targets = new Set(lines.flatMap(targetsOf))
  for (const target of ['test', 'check'].filter((each) => targets.has(each))) {
    const script = makeScript(lines, target)
    const reason = `${name} has a target "${target}"`
    // An empty one make itself calls nothing to be done; one that fails says what it means to.
    const speaks = script.trim() === '' || /\bfalse\b|\bexit [1-9]/.test(script)
    if (speaks || !runsNothing(script)) {
      return [{ argv: ['make', target], reason, script }]
    }
    files.note(name, 'no_test_script', `its target "${target}" runs nothing`)
  }
  return []
}

/** The file that make would read, by its lines; none when there is none. */
export async function readMakefile(
  files: WorkspaceFiles,
  folder = '.',
): Promise<{ readonly name: string; readonly lines: readonly string[] }> {
  // In the order in which make itself looks for them.
  for (const name of ['GNUmakefile', 'makefile', 'Makefile']) {
    if (await files.has(name, folder)) {
      return { name, lines: ((await files.read(name, folder)) ?? '').split('\n') }
    }
  }
  return { name: 'Makefile', lines: [] }
}

/**
 * What a target and those that it needs run. One that has no rule here, as a file or a pattern has
 * none, stands for itself: nobody knows what it runs.
 */
export function makeScript(lines: readonly string[], target: string): string {
  const wanted = [target]
  const texts: string[] = []
  for (let i = 0; i < wanted.length && i < RULES_MAX; i += 1) {
    const name = wanted[i] ?? ''
    const rules = lines.flatMap((line, at) => (targetsOf(line).includes(name) ? [at] : []))
    if (rules.length === 0) texts.push(name)
    for (const at of rules) {
      texts.push(recipeOf(lines.slice(at)))
      wanted.push(...needsOf(lines[at] ?? '').filter((need) => !wanted.includes(need)))
    }
  }
  return texts.join('\n')
}

/** What stands in the rule that these lines begin with. */
function recipeOf([first = '', ...rest]: readonly string[]): string {
  const end = rest.findIndex((line) => !/^\t|^\s*$/.test(line))
  const commands = end < 0 ? rest : rest.slice(0, end)
  const inline = first.includes(';') ? first.slice(first.indexOf(';') + 1) : ''
  // A recipe may mark a command that is not to be shown, or whose failure does not count.
  return [inline, ...commands].map((line) => line.replace(/^\s*[@+-]*/, '')).join('\n')
}

/** What a rule's targets need, without its comment and what it runs in the same line. */
function needsOf(line: string): readonly string[] {
  const [needs = ''] = line.slice(line.indexOf(':') + 1).split(/[;#]/)
  return needs.split(/[\s:|]+/).filter(Boolean)
}

/** The targets of a rule; an assignment such as `test := x` is none. */
function targetsOf(line: string): readonly string[] {
  const colon = line.indexOf(':')
  if (colon <= 0 || /^[\s#]/.test(line) || /^::?:?=/.test(line.slice(colon))) return []
  const names = line.slice(0, colon)
  return names.includes('=') ? [] : names.trim().split(/\s+/)
}
