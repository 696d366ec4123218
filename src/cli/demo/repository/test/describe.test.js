import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describe } from '../src/describe.js'

test('it begins with the characters', () => {
  assert.equal(describe('abc')[0], 'characters: 3')
})
