import { expect, test } from 'vitest'
import { doesNothing } from './empty-script.ts'

test.each([
  '',
  ' \r\n\t\ufeff\u2028',
  '#!/usr/bin/env node',
  '\ufeff#!/usr/bin/env node\n\n',
  '// test("adds", () => {})',
  '// one\r// two\u2028// three',
  '/* test("adds")\n * assert.ok(false) */\n/**/ // end',
  '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n',
  "'use strict'\nexport {};\n//# sourceMappingURL=a.test.js.map",
  "import test from 'node:test'\nimport * as assert from \"node:assert\"; import type { A } from './a'",
  "import {\n  // the lot\n  describe,\n  it,\n} from 'node:test'\n",
  "import{test}from'node:test'",
  "const { test: it } = require('node:test')\nconst assert = require('assert').strict;",
])('%j does nothing', (script) => {
  expect(doesNothing(script)).toBe(true)
})

test.each([
  'work()',
  'exports.nothing = 1',
  '/* begins */ assert.ok(true) /* ends */',
  '// one\nassert.ok(true)',
  '// one\u2028assert.ok(true)',
  '/regular/.test("x")',
  '"/* no comment"; work(); "*/"',
  "'use strict'; work()",
  '/* never ends',
  '\n#!/usr/bin/env node',
  "import assert from 'node:assert'; assert.equal(1, 1)",
  "import a from './a.js'\nif (a !== 1) throw new Error()",
  // What they bring in may be the tests.
  "import './all-checks.js'",
  "require('./all-checks.js')",
  "await import('./all-checks.js')",
  "const run = require('./check.js')()",
  "const { a = work() } = require('./a.js')",
  'import.meta.dirname',
  'importAll\nfrom "x"',
])('%j does something', (script) => {
  expect(doesNothing(script)).toBe(false)
})

test.each(['import ', 'import from ', 'const {', 'var a = require( ', '/* *'])(
  'to look at many of %j takes no time',
  (text) => {
    const startedMs = performance.now()
    expect(doesNothing(text.repeat(50_000))).toBe(false)
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  },
)
