import { expect, test } from 'vitest'
import { type Candidate, chooseNext, overlap } from './choice.ts'

const app = (story: string, ...files: string[]): Candidate => ({ story, kind: 'app', files })
const devops = (story: string): Candidate => ({ story, kind: 'devops', files: [] })

test.each<[string, Candidate[], string[][], string | undefined]>([
  ['nothing', [], [], undefined],
  ['the oldest', [app('a'), app('b')], [], 'a'],
  ['devops first', [app('a'), devops('b')], [], 'b'],
  ['what shares no file', [app('a', 'x.ts'), app('b', 'y.ts')], [['x.ts']], 'b'],
  ['nothing while all share files', [app('a', 'x.ts')], [['x.ts']], undefined],
  ['the oldest when nobody works', [app('a', 'x.ts'), app('b', 'x.ts')], [], 'a'],
  ['who expects no file is free', [app('a', 'x.ts'), app('b')], [['x.ts']], 'b'],
])('%s', (_, candidates, underWay, story) => {
  expect(chooseNext(candidates, underWay)?.story).toBe(story)
})

test.each([
  ['a.ts', 'a.ts', true],
  ['src', 'src/a.ts', true],
  ['src/', 'src/a.ts', true],
  ['src/**', 'src/deep/a.ts', true],
  ['src/a.ts', 'src', true],
  ['src', 'src2/a.ts', false],
  ['a.ts', 'b.ts', false],
  ['./a.sh', 'a.sh', true],
  ['/a', 'a', true],
  ['src//a', 'src/a', true],
  ['src/./a', 'src/a/', true],
  ['src/x/../a', 'src/a', true],
  ['.', 'a.js', true],
  ['', 'a.js', true],
  ['*', 'x', true],
  ['**', 'a', true],
  ['*.md', 'docs/a.md', true],
  ['src/*.js', 'src/a.js', true],
  ['src/**/*.ts', 'src/x/a.ts', true],
  ['src/a?.ts', 'src/ab.ts', true],
  ['src/{a,b}.ts', 'src/b.ts', true],
  ['src/[ab]/*', 'src/lib/*.js', true],
  ['src/*.js', 'docs/a.js', false],
  ['src/**', 'src2/a.js', false],
  ['./src/a.js', './src/b.js', false],
])('%s and %s overlap: %s', (a, b, expected) => {
  expect(overlap([a], [b])).toBe(expected)
})
