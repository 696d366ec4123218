import { expect, test } from 'vitest'
import { typedPath } from './typed-path.ts'

const MIRROR = '/home/a/app/.slipway/git/mirror.git'

test.each([
  ['at the top', MIRROR, '/home/a/app', '.slipway/git/mirror.git'],
  ['in a folder below', MIRROR, '/home/a/app/src', MIRROR],
  [
    'with a state folder elsewhere',
    '/tmp/s/git/mirror.git',
    '/home/a/app',
    '../../../tmp/s/git/mirror.git',
  ],
  [
    'where a shell would split it',
    "/home/a/it's mine/x.git",
    '/home',
    "'/home/a/it'\\''s mine/x.git'",
  ],
])('%s git finds it', (_, path, folder, typed) => {
  expect(typedPath(path, '/home/a/app', folder)).toBe(typed)
})
