import { expect, test } from 'vitest'
import { layOut } from './columns.ts'

test('columns are as wide as their widest cell, and lines end without spaces', () => {
  expect(
    layOut(
      [
        ['a', 'bbb', 'c'],
        ['aaa', 'b', ''],
      ],
      80,
    ),
  ).toBe('a    bbb  c\naaa  b')
})

test('the widest column is wrapped at words when the rows would be too wide', () => {
  const rows = [['name', 'a purpose of many words', 'end']]
  expect(layOut(rows, 22)).toBe('name  a purpose    end\n      of many\n      words')
})

test('rows that fit exactly are not wrapped, one column less wraps them', () => {
  expect(layOut([['one', 'two three']], 14)).toBe('one  two three')
  expect(layOut([['one', 'two three']], 13)).toBe('one  two\n     three')
})

test('no word is cut, however narrow the terminal', () => {
  expect(layOut([['some_long_event', 'other words']], 5)).toBe(
    'some_long_event  other\n                 words',
  )
})

test('nothing is laid out as nothing', () => {
  expect(layOut([], 80)).toBe('')
})

test('styles do not count as width', () => {
  expect(
    layOut(
      [
        ['a', 'b'],
        ['aa', 'b'],
      ],
      80,
      [(text) => `<${text}>`],
    ),
  ).toBe('<a>   b\n<aa>  b')
})

test('wide signs are aligned by the columns that they take', () => {
  const rows = [
    ['日本', 'b'],
    ['aaa', 'b'],
  ]
  expect(layOut(rows, 80)).toBe('日本  b\naaa   b')
})
