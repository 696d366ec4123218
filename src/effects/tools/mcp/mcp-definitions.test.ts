import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { definitionsHash, offerTools } from './mcp-definitions.ts'
import { understandSchema } from './mcp-schema.ts'

const OBJECT = { type: 'object' }

describe('the hash of definitions', () => {
  const tools = [
    { name: 'a', description: 'A', inputSchema: { type: 'object', required: ['x'] } },
    { name: 'b', inputSchema: OBJECT },
  ]

  test('does not depend on the order', () => {
    expect(definitionsHash([...tools].reverse())).toBe(definitionsHash(tools))
    const turned = { required: ['x'], type: 'object' }
    const again = [{ inputSchema: turned, description: 'A', name: 'a' }, tools[1] as never]
    expect(definitionsHash(again)).toBe(definitionsHash(tools))
  })

  test.each([
    ['description', { description: 'A ' }],
    ['schema', { inputSchema: { type: 'object', required: ['y'] } }],
    ['name', { name: 'A' }],
    ['description of a field', { inputSchema: { type: 'object', required: ['x'], title: '!' } }],
    ['schema of its answers', { outputSchema: OBJECT }],
  ])('depends on the %s', (_, change) => {
    const changed = [{ ...tools[0], ...change } as (typeof tools)[0], tools[1] as never]
    expect(definitionsHash(changed)).not.toBe(definitionsHash(tools))
  })

  test('depends on how many there are', () => {
    expect(definitionsHash(tools.slice(1))).not.toBe(definitionsHash(tools))
    expect(definitionsHash([])).not.toBe(definitionsHash(tools))
  })
})

describe('names', () => {
  test('are what providers take, and no two tools share one', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 90 }),
      fc.stringMatching(/^[a-c_.-]{0,6}$/),
    )
    const pairs = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-c_. -]{1,5}$/), name), {
      selector: ([server, tool]) => `${server}\0${tool}`,
      maxLength: 20,
    })
    fc.assert(
      fc.property(pairs, (all) => {
        const offered = all.flatMap(
          ([server, tool]) => offerTools(server, [{ name: tool, inputSchema: OBJECT }], []).offered,
        )
        expect(offered.map(({ calledName }) => calledName)).toEqual(all.map(([, tool]) => tool))
        for (const tool of offered) expect(tool.name).toMatch(/^mcp__[a-zA-Z0-9_-]{1,59}$/)
        expect(new Set(offered.map((tool) => tool.name)).size).toBe(all.length)
      }),
      { numRuns: 300 },
    )
  })

  test('are kept where they can be', () => {
    const { offered } = offerTools('git-hub', [{ name: 'get_me', inputSchema: OBJECT }], [])
    expect(offered[0]).toMatchObject({ name: 'mcp__git-hub__get_me', calledName: 'get_me' })
  })

  test('that occur twice are offered once', () => {
    const twice = [1, 2].map(() => ({ name: 'a', inputSchema: OBJECT }))
    const { offered, refused } = offerTools('s', twice, [])
    expect(offered).toHaveLength(1)
    expect(refused).toEqual([{ tool: 'a', reason: 'another tool has its name' }])
  })

  test('are bounded in number', () => {
    const many = Array.from({ length: 130 }, (_, i) => ({ name: `t${i}`, inputSchema: OBJECT }))
    const { offered, refused } = offerTools('s', many, [])
    expect([offered.length, refused.length]).toEqual([100, 30])
  })
})

test('descriptions are bounded and hold nothing that nobody sees', () => {
  const description = `Adds.\u001b[31m\u200b\u{e0041}\n${'x'.repeat(5_000)}`
  const { offered } = offerTools('s', [{ name: 'a', description, inputSchema: OBJECT }], [])
  expect(offered[0]?.description.length).toBeLessThan(2_010)
  expect(offered[0]?.description).toMatch(/^Adds\. \[31m +\nx+ \[…\]$/)
})

describe('a schema', () => {
  const understood = (schema: unknown) => {
    const found = understandSchema(schema)
    if (!found.ok) throw new Error(found.reason)
    return found.schema
  }

  test('holds calls to what it says', () => {
    const schema = understood({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        path: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
        mode: { enum: ['r', 'w'] },
        tags: { type: 'array', items: { $ref: '#/definitions/tag' }, minItems: 1 },
        size: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
      },
      required: ['path'],
      additionalProperties: false,
      definitions: { tag: { type: 'string', minLength: 1 } },
    })
    const accepts = (input: unknown) => schema.safeParse(input).success
    expect(accepts({ path: 'abc', mode: 'r', tags: ['x'], size: null })).toBe(true)
    const bad = [
      {},
      { path: 'ABC' },
      { path: 'abcdef' },
      { path: 'a', mode: 'x' },
      { path: 'a', tags: [''] },
      { path: 'a', tags: [] },
      { path: 'a', size: 0 },
      { path: 'a', other: 1 },
      'path',
      null,
    ]
    expect(bad.filter(accepts)).toEqual([])
  })

  test.each([
    ...['http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema'],
    ...['https://json-schema.org/draft/2020-12/schema', undefined],
  ])('has its definitions under either name, in the version %s', ($schema) => {
    for (const name of ['definitions', '$defs']) {
      const tag = { $ref: `#/${name}/tag` }
      const defs = { tag: { $ref: `#/${name}/word` }, word: { type: 'string', minLength: 1 } }
      const properties = { tag, definitions: { type: 'integer' }, $ref: tag }
      const schema = understood({ $schema, type: 'object', properties, [name]: defs })
      expect(schema.safeParse({ tag: 'a', definitions: 1, $ref: 'a' }).success).toBe(true)
      for (const bad of [{ tag: '' }, { tag: 1 }, { definitions: 'a' }, { $ref: '' }]) {
        expect(schema.safeParse(bad).success).toBe(false)
      }
    }
  })

  test.each([
    ['^([a-z]{1,9}-?){1,60}$', 'a-b'],
    ['^(\\w{1,50}\\s?){1,50}$', 'a b'],
    ['^(a|aa)*$', 'aaa'],
    ['^(a*)*b$', 'ab'],
  ])('whose pattern could take forever keeps nobody busy: %s', (pattern, fitting) => {
    const valued = understood({ type: 'object', properties: { x: { type: 'string', pattern } } })
    const named = understood({ type: 'object', patternProperties: { [pattern]: {} } })
    const slow = `${'a'.repeat(60)}!`
    expect(valued.safeParse({ x: fitting }).success).toBe(true)
    for (const { error } of [valued.safeParse({ x: slow }), named.safeParse({ [slow]: 1 })]) {
      expect(error?.issues).toMatchObject([{ message: expect.stringContaining('within 200 ms') }])
    }
  })

  test('whose pattern takes all the room there is refuses the call', () => {
    const pattern = '^(([a-z])|([0-9]))*$'
    const schema = understood({ type: 'object', properties: { x: { type: 'string', pattern } } })
    for (let i = 0; i < 5; i += 1) {
      expect(schema.safeParse({ x: 'ab'.repeat(1_500_000) }).success).toBe(false)
    }
    expect(schema.safeParse({ x: 'ab' }).success).toBe(true)
  })

  test('that allows more lets more through, unchanged', () => {
    const schema = understood({ type: 'object', properties: { a: { type: 'number' } } })
    expect(schema.parse({ a: 1, b: { c: [2] } })).toEqual({ a: 1, b: { c: [2] } })
    expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ type: 'object' })
  })

  test('puts no default in, and tells of it', () => {
    const level = { type: 'integer', description: 'How deep.', default: 3 }
    const schema = understood({ type: 'object', properties: { level }, required: ['level'] })
    expect(schema.safeParse({}).success).toBe(false)
    expect(z.toJSONSchema(schema)).toMatchObject({
      properties: { level: { type: 'integer', description: 'How deep. (default: 3)' } },
      required: ['level'],
    })
    const optional = understood({ type: 'object', properties: { level, default: level } })
    expect(optional.parse({})).toEqual({})
    expect(optional.safeParse({ default: 'x' }).success).toBe(false)
  })

  test('lets no name through that would not be checked', () => {
    const schema = understood({ type: 'object', additionalProperties: false })
    expect(schema.safeParse(JSON.parse('{"__proto__":{"a":1}}')).success).toBe(false)
  })

  test('counts what a list contains', () => {
    const contains = { type: 'string' }
    const list = { type: 'array', contains, minContains: 2, maxContains: 3 }
    const schema = understood({ type: 'object', properties: { list } })
    const accepts = (...items: unknown[]) => schema.safeParse({ list: items }).success
    expect([accepts('a', 1), accepts('a', 1, 'b'), accepts('a', 'b', 'c', 'd')]).toEqual([
      false,
      true,
      false,
    ])
  })

  const laughs = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, { type: 'object', properties: { a: next, b: next } }]
    }),
  )
  const field = (x: object, more: object = {}) => ({ type: 'object', properties: { x }, ...more })

  test.each<[string, unknown, RegExp]>([
    ['a text', 'object', /./],
    ['nothing', undefined, /./],
    ['of another type', { type: 'string' }, /not that of an object/],
    ['a condition', { type: 'object', if: {}, else: {} }, /not understood/],
    ['from elsewhere', field({ $ref: 'https://evil.test/s.json' }), /no definition/],
    ['that is missing', field({ $ref: '#/$defs/no' }), /not understood/],
    ['itself', { $ref: '#' }, /refers to itself/],
    ['a circle', field({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } }), /itself/],
    [
      'a tree',
      field({ $ref: '#/$defs/n' }, { $defs: { n: field({ $ref: '#/$defs/n' }) } }),
      /itself/,
    ],
    [
      'a circle under two names',
      field({ $ref: '#/$defs/n' }, { definitions: { n: field({ $ref: '#/$defs/n' }) } }),
      /itself/,
    ],
    ['a billion laughs', field({ $ref: '#/$defs/d0' }, { $defs: { ...laughs, d30: {} } }), /large/],
    ['long', { type: 'object', description: 'x'.repeat(50_000) }, /too long/],
    ['a broken pattern', field({ type: 'string', pattern: '(' }), /not understood/],
    ['a required key of no kind', { type: 'object', required: ['x'] }, /requires "x"/],
    ['properties of no type', field({ properties: { a: {} } }), /properties without type/],
    ['a length of no type', field({ minLength: 1 }), /minLength without type/],
    ['a choice by what is required', field({ anyOf: [{ required: [] }] }), /required without/],
    ['a pattern beside values', field({ enum: ['a'], pattern: 'b' }), /pattern beside enum/],
    ['a maximum beside a value', field({ const: 3, maximum: 2 }), /maximum beside/],
    ['a value beside values', field({ const: 3, enum: [3, 4] }), /beside enum/],
    ['values of another type', field({ type: 'string', enum: ['a', null] }), /no use/],
    ['values that are lists', field({ enum: [['a']] }), /no use/],
    ['a bound in words', field({ type: 'integer', maximum: '5' }), /maximum that is no number/],
    ['two choices at once', field({ anyOf: [{}], oneOf: [{}] }), /anyOf and oneOf/],
    ['more beside a reference', field({ $ref: '#/$defs/a', minLength: 1 }), /beside \$ref/],
    [
      'a way into a definition',
      field({ $ref: '#/$defs/a/b' }, { $defs: { a: { b: {} } } }),
      /no definition of its own/,
    ],
    ['what depends', { type: 'object', dependencies: { a: ['b'] } }, /has dependencies/],
    [
      'patterns and others',
      { type: 'object', patternProperties: { a: {} }, additionalProperties: { type: 'string' } },
      /schema for all others/,
    ],
  ])('that is %s is not taken', (_, schema, reason) => {
    expect(understandSchema(schema)).toEqual({ ok: false, reason: expect.stringMatching(reason) })
  })

  test('of any kind is taken or not, without throwing', () => {
    const key = fc.constantFrom(
      'type',
      'properties',
      '$ref',
      '$defs',
      'items',
      'anyOf',
      'enum',
      'a',
    )
    const leaf = fc.oneof(fc.constantFrom('object', 'string', '#', '#/$defs/a', 'array'), fc.json())
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ depthSize: 'small' }, leaf, fc.dictionary(key, tie('node'), { maxKeys: 4 })),
    }))
    fc.assert(
      fc.property(node, (schema) => {
        const found = understandSchema({ type: 'object', ...(schema as object) })
        if (found.ok) for (const input of [{}, { a: {} }, null]) found.schema.safeParse(input)
      }),
      { numRuns: 500 },
    )
  })
})
