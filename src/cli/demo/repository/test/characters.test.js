import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countCharacters } from '../src/characters.js'

test('a character outside the first plane counts once', () => {
  assert.equal(countCharacters('a𝄞'), 2)
})
