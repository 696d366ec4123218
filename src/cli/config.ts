import { agree } from './agreement.ts'
import { layOut } from './columns.ts'
import { type BrainOutline, outlineBrain, ROLES } from './config/brain-outline.ts'
import { settingsIn } from './config/layers.ts'
import { describeIgnored, type LoadedConfig, loadConfig } from './config/load-config.ts'
import { FOUND_OUT } from './config/settings/defaults.ts'
import { configJsonSchema } from './config/settings/key-table.ts'
import { distrustFile, trustFile } from './config/trust-file.ts'
import { EXIT_CODE } from './exit-code.ts'
import { jsonText } from './json-text.ts'
import { printable } from './printable.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'
import { UsageError } from './usage-error.ts'

export interface ConfigOptions {
  readonly json?: true
}

export interface TrustOptions extends ConfigOptions {
  readonly yes?: true
  readonly revoke?: true
}

/** `slipway config show`: what holds here, and where each value came from. Asks nobody. */
export async function showConfig({ json }: ConfigOptions): Promise<void> {
  const loaded = await loadConfig(process.cwd(), process.env)
  const brains = ROLES.map((role) => ({
    role,
    ...describeBrain(outlineBrain(role, loaded.config, process.env)),
  }))
  if (json) write(jsonText(toData(loaded, brains)))
  else write(draw(loaded, brains))
  for (const line of describeIgnored(loaded)) talk(line)
}

/** `slipway config schema`: the JSON Schema of the file, for editors. */
export function showSchema(): void {
  write(jsonText(configJsonSchema()))
}

/** `slipway config trust`: shows what the repository's file sets, and remembers that it may. */
export async function trustConfig({ json, yes, revoke }: TrustOptions): Promise<number> {
  const loaded = await loadConfig(process.cwd(), process.env)
  const { repositoryFile: file } = loaded
  if (file === undefined) {
    throw new UsageError('There is no slipway.config.yaml here, so there is nothing to trust.')
  }
  if (revoke) {
    await distrustFile(file, process.env)
    if (json) write(jsonText({ file: file.path, trusted: false }))
    talk(`${file.name} is no longer trusted.`)
    return EXIT_CODE.done
  }
  const guarded = new Set(loaded.ignored.map(({ key }) => key))
  const said = settingsIn(file.content).map((one) => ({ ...one, needsTrust: guarded.has(one.key) }))
  if (!json) {
    const rows = said.map(({ key, value, needsTrust }) => [
      key,
      show(value),
      needsTrust ? 'needs your trust' : '',
    ])
    const style = styleFor(process.stdout)
    const paints = [style.bold, same, style.warn]
    const heads = [`${file.name} sets:`, layOut(rows, columnsOf(process.stdout), paints)]
    write(rows.length === 0 ? `${file.name} sets nothing.` : heads.join('\n'))
  }
  const isAgreed = loaded.isTrusted || yes === true || (await agree('Trust it?'))
  if (isAgreed && !loaded.isTrusted) await trustFile(file, process.env)
  if (json) write(jsonText({ file: file.path, sha256: file.hash, trusted: isAgreed, sets: said }))
  talk(
    isAgreed
      ? `${file.name} is trusted as it is now. A change to it ends that; --revoke does too.`
      : `${file.name} is not trusted.`,
  )
  return isAgreed ? EXIT_CODE.done : EXIT_CODE.failed
}

interface BrainLine {
  readonly from: string
  readonly [fact: string]: unknown
}

/** An outline without the entry it was made of. */
function describeBrain(outline: BrainOutline): BrainLine {
  const { entry: _, ...facts } = outline
  return facts
}

function toData(loaded: LoadedConfig, brains: readonly (BrainLine & { role: string })[]) {
  const { repository, userFile, repositoryFile, isTrusted, settings, ignored } = loaded
  return {
    repository: repository?.root ?? null,
    userFile: userFile?.path ?? null,
    repositoryFile: repositoryFile?.path ?? null,
    trusted: repositoryFile === undefined ? null : isTrusted,
    settings,
    brains,
    ignored,
  }
}

function draw(loaded: LoadedConfig, brains: readonly (BrainLine & { role: string })[]): string {
  const style = styleFor(process.stdout)
  const width = columnsOf(process.stdout)
  const names = {
    default: 'default',
    'user file': loaded.userFile?.name ?? '',
    'repository file': loaded.repositoryFile?.name ?? '',
  }
  const rows = loaded.settings.map(({ key, value, origin }) => [
    key,
    value === null ? `(${FOUND_OUT[key]})` : show(value),
    printable(names[origin]),
  ])
  const thinkers = brains.map(({ role, from, kind, ...facts }) => [
    role,
    printable(thinkerWords(String(kind), facts)),
    from,
  ])
  const paints = [style.bold, same, style.dim]
  return [
    layOut([['KEY', 'VALUE', 'FROM'], ...rows], width, paints),
    layOut([['ROLE', 'WHO THINKS', 'FROM'], ...thinkers], width, paints),
  ].join('\n\n')
}

function thinkerWords(kind: string, facts: Readonly<Record<string, unknown>>): string {
  const { file, name, provider, model, baseUrl, keyVariable, missingKey } = facts
  if (kind === 'scripted') return `the scenario ${file}`
  if (kind === 'agent') return `the agent ${name}`
  if (kind === 'unknown') return `Ollama at ${baseUrl}, if it answers`
  const missing = missingKey as readonly string[]
  const key =
    missing.length > 0
      ? `, but ${missing.join(' or ')} is not set`
      : keyVariable === null
        ? ''
        : `, key in ${keyVariable}`
  return `${provider} at ${baseUrl}, ${model ?? 'a model of its list'}${key}`
}

function show(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}

const same = (text: string) => text

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}

function talk(text: string): void {
  process.stderr.write(`slipway: ${printable(text)}\n`)
}
