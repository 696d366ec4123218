/** A schema that would be held against calls only in part; the message says which part is lost. */
export class InexactSchemaError extends Error {
  override readonly name = 'InexactSchemaError'
}

type Node = Readonly<Record<string, unknown>>

const COUNTS = [
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'multipleOf', 'minItems', 'maxItems'],
  ...['minContains', 'maxContains', 'minProperties', 'maxProperties'],
]
/** What has a meaning for one type alone. */
const OF_A_TYPE = [
  ...COUNTS,
  ...['pattern', 'format', 'exclusiveMinimum', 'exclusiveMaximum', 'items', 'prefixItems'],
  ...['additionalItems', 'uniqueItems', 'contains', 'properties', 'required'],
  ...['additionalProperties', 'patternProperties', 'propertyNames'],
]
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not']
/** What zod reads over, though it restricts calls. */
const UNHEARD = ['dependencies', '$dynamicRef', '$recursiveRef', 'extends', 'disallow']

const HOLDING_ONE = ['additionalItems', 'additionalProperties', 'contains', 'propertyNames']
const HOLDING_MANY = ['prefixItems', 'anyOf', 'oneOf', 'allOf']
const HOLDING_NAMED = ['properties', 'patternProperties', '$defs', 'definitions']

/**
 * A JSON Schema without its defaults, which are told in its descriptions: a call is checked as it
 * is, and nothing is put into it. Throws an InexactSchemaError for what zod would leave out of its
 * own schema without a word.
 */
export function exactSchema(given: unknown): unknown {
  if (isObject(given) && '$defs' in given && 'definitions' in given) {
    throw new InexactSchemaError('has $defs and definitions')
  }
  return exact(isObject(given) ? withDefs(given) : given)
}

/** Zod looks for definitions by the version that a schema names, and many name none, or another. */
function withDefs({ $schema: _, ...node }: Node): Node {
  const { definitions, ...rest } = node
  return definitions === undefined ? node : { ...rest, $defs: definitions }
}

function exact(node: unknown): unknown {
  if (typeof node === 'boolean') return node
  if (!isObject(node)) throw new InexactSchemaError('has a part that is no schema')
  checkForms(node)
  checkCompany(node)
  const { default: usual, ...made } = { ...node } as Record<string, unknown>
  for (const key of HOLDING_ONE) if (key in made) made[key] = exact(made[key])
  for (const key of HOLDING_MANY) if (key in made) made[key] = listed(made[key], key)
  for (const key of HOLDING_NAMED) if (key in made) made[key] = named(made[key], key)
  if ('items' in made) {
    made.items = Array.isArray(made.items) ? listed(made.items, 'items') : exact(made.items)
  }
  if (typeof made.$ref === 'string') made.$ref = made.$ref.replace(/^#\/definitions\//, '#/$defs/')
  if (usual !== undefined) {
    const words = typeof made.description === 'string' ? `${made.description} ` : ''
    made.description = `${words}(default: ${JSON.stringify(usual)})`
  }
  return made
}

function listed(nodes: unknown, key: string): unknown {
  if (!Array.isArray(nodes)) throw new InexactSchemaError(`has ${key} that is no list`)
  return nodes.map(exact)
}

function named(nodes: unknown, key: string): unknown {
  if (!isObject(nodes)) throw new InexactSchemaError(`has ${key} that is no object`)
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, exact(node)]))
}

/** What is not of the kind that it has to be is ignored by zod. */
function checkForms(node: Node): void {
  const unheard = UNHEARD.find((key) => key in node)
  if (unheard !== undefined) throw new InexactSchemaError(`has ${unheard}`)
  const broken = COUNTS.find((key) => key in node && typeof node[key] !== 'number')
  if (broken !== undefined) throw new InexactSchemaError(`has ${broken} that is no number`)
  if ('pattern' in node && typeof node.pattern !== 'string') {
    throw new InexactSchemaError('has pattern that is no text')
  }
  const { required = [], properties = {} } = node
  if (!Array.isArray(required)) throw new InexactSchemaError('has required that is no list')
  const missing = required.find((key) => !Object.hasOwn(properties as object, key))
  if (missing !== undefined) {
    const name = JSON.stringify(missing).slice(0, 100)
    throw new InexactSchemaError(`requires ${name}, which is not among its properties`)
  }
}

/** Keywords that hide each other. */
function checkCompany(node: Node): void {
  const ofType = OF_A_TYPE.find((key) => key in node)
  const choices = CHOICES.filter((key) => key in node)
  const value = ['enum', 'const'].filter((key) => key in node)
  const [first = value[0]] = choices
  if ('$ref' in node) {
    const other = ofType ?? first ?? ('type' in node ? 'type' : undefined)
    if (other !== undefined) throw new InexactSchemaError(`has ${other} beside $ref`)
    // Further steps into a definition would be ignored.
    if (!/^#\/(\$defs|definitions)\/[^/]+$/.test(String(node.$ref))) {
      throw new InexactSchemaError('refers to what is no definition of its own')
    }
  } else if (value.length > 0) checkValues(node, ofType ?? value[1])
  else if (!('type' in node)) {
    if (ofType !== undefined) throw new InexactSchemaError(`has ${ofType} without type`)
    if (choices.length > 1) throw new InexactSchemaError(`has ${choices.join(' and ')}`)
  }
  if (isObject(node.patternProperties) && isObject(node.additionalProperties)) {
    throw new InexactSchemaError('has patternProperties and a schema for all others')
  }
}

function checkValues(node: Node, other: string | undefined): void {
  if (other !== undefined) throw new InexactSchemaError(`has ${other} beside enum or const`)
  const values = 'enum' in node ? node.enum : [node.const]
  if (!Array.isArray(values)) throw new InexactSchemaError('has enum that is no list')
  const types = [node.type].flat()
  const fits = (value: unknown) =>
    (value === null || typeof value !== 'object') &&
    (!('type' in node) || typesOf(value).some((type) => types.includes(type)))
  if (!values.every(fits)) throw new InexactSchemaError('has values in enum that are of no use')
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}

function isObject(value: unknown): value is Node {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
