import type { z } from 'zod'
import { nearest } from '../../effects/nearest.ts'
import { configJsonSchema } from './settings/key-table.ts'

/** What is wrong with a configuration, where in it, and what to do about it. */
export interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
  /** Whether the place is the key itself and not its value. */
  readonly isAboutKey?: true
}

type Issue = z.core.$ZodIssue

/** Says what the schema found wrong, in words that name the fix. Repeats no value. */
export function explainIssues(issues: readonly Issue[]): readonly Problem[] {
  return issues.flatMap((issue) => explain(issue, issue.path as Problem['path']))
}

function explain(issue: Issue, path: Problem['path']): readonly Problem[] {
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(path, key))
    case 'invalid_union':
      return explainUnion(issue, path)
    default:
      return [{ path, message: words(issue) }]
  }
}

function words(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      // What the schema says itself is about the very key.
      return issue.message.startsWith('has to be ')
        ? issue.message
        : `has to be ${NOUNS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `has to be one of ${issue.values.join(', ')}`
    case 'too_big':
      return `has to ${sizeWord(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return `has to ${sizeWord(issue.origin)} at least ${issue.minimum}${unitOf(issue.origin)}`
    default:
      return issue.message
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  object: 'a section with keys',
  array: 'a list',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

const sizeWord = (origin: string) => (origin === 'string' || origin === 'array' ? 'have' : 'be')
const unitOf = (origin: string) =>
  origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''

/** Of the forms that a value may have, the one that it comes nearest to is explained. */
function explainUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Problem['path'],
): readonly Problem[] {
  const isOtherForm = (found: readonly Issue[]) =>
    found.some(
      ({ code, path: inner }) =>
        inner.length === 0 && (code === 'invalid_type' || code === 'invalid_value'),
    )
  const meant = issue.errors.find((found) => !isOtherForm(found))
  if (meant !== undefined) {
    return meant.flatMap((inner) => explain(inner, [...path, ...(inner.path as Problem['path'])]))
  }
  const forms = issue.errors.flatMap(([first]) => (first === undefined ? [] : [words(first)]))
  return [{ path, message: forms.join(', or ') }]
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly anyOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
}

function unknownKey(path: Problem['path'], key: string): Problem {
  const known = keysAt(configJsonSchema(), path)
  const elsewhere = sectionsWith(configJsonSchema(), key)
  const meant = nearest(key, known)
  const hint =
    elsewhere.length > 0
      ? `there is ${elsewhere.join(' and ')}`
      : meant !== undefined
        ? `did you mean ${meant}?`
        : `there are ${known.join(', ')}`
  return { path: [...path, key], message: `is not known here: ${hint}`, isAboutKey: true }
}

function keysAt(node: SchemaNode, path: Problem['path']): readonly string[] {
  const [part, ...rest] = path
  const branches = node.anyOf ?? [node]
  if (part === undefined) {
    return branches.flatMap(({ properties }) => Object.keys(properties ?? {}))
  }
  const inner = branches.flatMap(({ properties, items }) =>
    typeof part === 'number' ? (items ?? []) : (properties?.[part] ?? []),
  )
  return inner.flatMap((each) => keysAt(each, rest))
}

/** Where a key is known that was written in the wrong section. */
function sectionsWith(node: SchemaNode, key: string, prefix = ''): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, inner]) => [
    ...(name === key ? [`${prefix}${name}`] : []),
    ...sectionsWith(inner, key, `${prefix}${name}.`),
  ])
}
