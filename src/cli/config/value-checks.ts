import { isIP } from 'node:net'
import { isAbsolute, normalize } from 'node:path'
import { reachOf } from '../../effects/brains/agents/agent-reach.ts'
import { guardGit } from '../../effects/guards/git-guard.ts'
import { findLookalikes } from '../../effects/guards/secret-patterns.ts'
import { isPublic, parseHosts } from '../../effects/sandbox/host-list.ts'
import type { Problem } from './problems.ts'
import type { BrainEntry, ConfigFile } from './settings/schema.ts'

type Path = Problem['path']

/** As much as an effect `run_tests` takes. */
const COMMANDS_BYTES_MAX = 4_000

/** What a value of the right shape can still be wrong about. Repeats no value. */
export function checkValues(config: ConfigFile): readonly Problem[] {
  const { target, models = {}, tests = {}, forge = {}, isolation = {} } = config
  return [
    ...findSecrets(config, []),
    ...check(target, ['target'], branchProblem),
    ...Object.entries(models).flatMap(([role, entry]) =>
      entry === undefined ? [] : checkModel(entry, ['models', role]),
    ),
    ...checkCommands(tests.commands ?? [], ['tests', 'commands']),
    ...check(forge.apiUrl, ['forge', 'apiUrl'], addressProblem),
    ...check(isolation.image, ['isolation', 'image'], imageProblem),
    ...each(isolation.hosts, ['isolation', 'hosts'], hostProblem),
    ...each(isolation.toolFolders, ['isolation', 'toolFolders'], folderProblem),
  ]
}

function checkModel(entry: BrainEntry, path: Path): readonly Problem[] {
  const { provider, model, baseUrl, apiKeyEnv, agent, contextTokens, outputTokens } = entry
  const problems = [
    ...check(model, [...path, 'model'], modelProblem),
    ...check(baseUrl, [...path, 'baseUrl'], addressProblem),
    ...check(apiKeyEnv, [...path, 'apiKeyEnv'], variableProblem),
  ]
  const say = (message: string, at: Path = path) => problems.push({ path: at, message })
  if (Object.keys(entry).length === 0) say('says nothing: give a provider or a model, or remove it')
  if (provider === 'openai-compatible' && baseUrl === undefined) {
    say('needs a baseUrl: an openai-compatible server has no address of its own')
  }
  if (provider === undefined && (baseUrl ?? apiKeyEnv) !== undefined) {
    say('needs a provider: an address or a key belongs to one')
  }
  if (contextTokens !== undefined && outputTokens !== undefined && outputTokens >= contextTokens) {
    say('has to be less than contextTokens', [...path, 'outputTokens'])
  }
  if (agent === undefined) return problems
  if ((provider ?? baseUrl ?? apiKeyEnv) !== undefined) {
    say('has an agent: remove provider, baseUrl and apiKeyEnv, which the agent has itself')
  }
  if (typeof agent === 'string') return problems
  const { command, variables, hosts, addresses } = agent
  return [
    ...problems,
    ...checkArgv(command, [...path, 'agent', 'command']),
    ...each(variables, [...path, 'agent', 'variables'], variableProblem),
    ...each(hosts, [...path, 'agent', 'hosts'], hostProblem),
    ...each(addresses, [...path, 'agent', 'addresses'], nearAddressProblem),
  ]
}

function checkCommands(
  commands: NonNullable<NonNullable<ConfigFile['tests']>['commands']>,
  path: Path,
): readonly Problem[] {
  const problems = commands.flatMap((command, i) => {
    if (Array.isArray(command)) return checkArgv(command, [...path, i])
    const { argv, cwd } = command
    return [
      ...checkArgv(argv, [...path, i, 'argv']),
      ...check(cwd, [...path, i, 'cwd'], insideProblem),
    ]
  })
  if (Buffer.byteLength(JSON.stringify(commands)) <= COMMANDS_BYTES_MAX) return problems
  const message = `has more than ${COMMANDS_BYTES_MAX} bytes: put the commands into a script`
  return [...problems, { path, message }]
}

function checkArgv(argv: readonly string[], path: Path): readonly Problem[] {
  const message = 'is an argument list: its first entry is a program, and no entry has a NUL'
  const isSound = argv[0] !== '' && argv.every((argument) => !argument.includes('\0'))
  return isSound ? [] : [{ path, message }]
}

function check(
  value: string | undefined,
  path: Path,
  problemOf: (value: string) => string | undefined,
): readonly Problem[] {
  const message = value === undefined ? undefined : problemOf(value)
  return message === undefined ? [] : [{ path, message }]
}

function each(
  values: readonly string[] | undefined,
  path: Path,
  problemOf: (value: string) => string | undefined,
): readonly Problem[] {
  return (values ?? []).flatMap((value, i) => check(value, [...path, i], problemOf))
}

function branchProblem(value: string): string | undefined {
  try {
    guardGit('branch', value)
    return undefined
  } catch {
    return 'has to be the plain name of a branch, such as main'
  }
}

function modelProblem(value: string): string | undefined {
  // It may become an argument of an agent.
  return /^[A-Za-z0-9][\w.:/@+-]*$/.test(value)
    ? undefined
    : 'has to be the name of a model as its provider lists it'
}

function imageProblem(value: string): string | undefined {
  return /^[a-z0-9][\w.:/@-]*$/.test(value) ? undefined : 'has to be the name of an image'
}

function variableProblem(value: string): string | undefined {
  const isName = /^[A-Z_][A-Z0-9_]{0,63}$/.test(value)
  // A key that happens to have no small letters is one word of letters and digits.
  const isKey = value.length >= 20 && !value.includes('_')
  if (isName && !isKey) return undefined
  return 'has to be the NAME of an environment variable, such as ANTHROPIC_API_KEY, never a key'
}

function hostProblem(value: string): string | undefined {
  try {
    parseHosts([value])
    return undefined
  } catch {
    return 'has to be the name of a host, such as registry.example.org, *.example.org or registry.example.org:8443'
  }
}

function folderProblem(value: string): string | undefined {
  const isWhole = isAbsolute(value) || value.startsWith('~/')
  const isPlain = !value.includes('\0') && !value.split('/').includes('..')
  return isWhole && isPlain ? undefined : 'has to be an absolute path, or one that begins with ~/'
}

function insideProblem(value: string): string | undefined {
  const isInside = !isAbsolute(value) && !normalize(value).startsWith('..') && !value.includes('\0')
  return isInside ? undefined : 'has to be a folder below the repository'
}

/** What is wrong with an address that a key may be sent to. */
export function addressProblem(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^/]/.test(value)) {
    return 'has to be an address that begins with https://'
  }
  if (url.username !== '' || url.password !== '') return 'has a name or a password in it: remove it'
  if (url.search !== '' || url.hash !== '') return 'has to end with its path'
  if (url.protocol === 'http:' && !isNear(url.hostname)) {
    return 'has to begin with https://: http is for this machine and private networks'
  }
  return undefined
}

function nearAddressProblem(value: string): string | undefined {
  const isHere = addressProblem(value) === undefined && reachOf([value], []).hosts.length === 0
  return isHere ? undefined : 'has to be an address on this machine, such as http://127.0.0.1:8080'
}

function isNear(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0) return !isPublic(bare)
  return !bare.includes('.') || /\.(?:local|lan|internal|localhost)$/.test(bare)
}

function findSecrets(value: unknown, path: Path): readonly Problem[] {
  if (typeof value === 'string') {
    const message =
      'looks like a secret: put it into an environment variable, and the name of that here'
    return findLookalikes(value).length > 0 ? [{ path, message }] : []
  }
  if (Array.isArray(value)) return value.flatMap((one, i) => findSecrets(one, [...path, i]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => findSecrets(inner, [...path, key]))
}
