/**
 * Fails when an import points the wrong way. The linter says so in the editor, by the text of the
 * specifier; this resolves every specifier, so that no spelling gets around it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { LAYERS, PURE_LAYERS } from './layers.ts'

// An import or export from a module, an import for its effects, an import when it runs.
const STATEMENT = /^\s*(?:import|export)\b(?:[^'"`;=()]*?\bfrom)?\s*['"]([^'"]+)['"]/gm
const EXPRESSION = /\bimport\s*\(\s*['"]([^'"]+)['"]\s*\)/g
const UNKNOWABLE = /\bimport\s*\((?!\s*['"][^'"]+['"]\s*\))/

/** What is wrong with one file of a layer. */
function findProblems(path: string, layer: string, text: string): string[] {
  const pure = PURE_LAYERS.includes(layer)
  const allowed = [layer, ...(LAYERS[layer] ?? [])]
  const imports = [...text.matchAll(STATEMENT), ...text.matchAll(EXPRESSION)]
  const problems = imports.flatMap(([, specifier = '']) => {
    if (!specifier.startsWith('.')) return pure ? [`imports ${specifier}`] : []
    const target = normalize(join(dirname(path), specifier))
    if (target.endsWith('.test.ts')) return [`imports the test ${specifier}`]
    const [root, folder, ...rest] = target.split('/')
    if (target === 'package.json' && layer === 'cli') return []
    const inLayer = root === 'src' && rest.length > 0 && allowed.includes(folder ?? '')
    return inLayer ? [] : [`imports ${specifier}, which is not of ${allowed.join(', ')}`]
  })
  if (UNKNOWABLE.test(text)) problems.push('imports what only shows when it runs')
  if (pure && text.includes('biome-ignore')) problems.push('switches the linter off')
  return problems.map((problem) => `${path} ${problem}`)
}

const problems = readdirSync('src', { withFileTypes: true }).flatMap((folder) => {
  if (!(folder.name in LAYERS)) return [`src/${folder.name} is no layer of scripts/layers.ts`]
  const files = readdirSync(join('src', folder.name), { recursive: true }) as string[]
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join('src', folder.name, file))
    .flatMap((path) => findProblems(path, folder.name, readFileSync(path, 'utf8')))
})

for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
