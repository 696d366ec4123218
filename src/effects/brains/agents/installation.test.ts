import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findInstallation } from './installation.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'slipway-installation-')))
const bin = join(home, 'bin')
mkdirSync(bin)
afterAll(() => rmSync(home, { recursive: true }))

function write(path: string, text: string): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}

test('a script of npm comes with its packages and its interpreter', async () => {
  const script = write('lib/node_modules/tool/cli.js', '#!/usr/bin/env node\nlet x\n')
  const node = write('node-22/bin/node', 'binary')
  symlinkSync(script, join(bin, 'tool'))
  const path = [bin, dirname(node)].join(':')
  expect(await findInstallation(['tool', '--acp'], path)).toEqual({
    argv: [node, script, '--acp'],
    parts: [join(home, 'node-22'), join(home, 'lib/node_modules')],
    folders: [dirname(node)],
  })
})

test('a program that stands alone is nothing but itself', async () => {
  const program = write('.local/share/tool/versions/2.1', 'binary')
  symlinkSync(program, join(bin, 'alone'))
  const found = await findInstallation(['alone'], bin)
  expect(found).toMatchObject({ argv: [program], parts: [program] })
})

test('a script that is given to an interpreter is a part too', async () => {
  const node = write('node-24/bin/node', 'binary')
  const script = write('app/node_modules/agent/index.js', 'let x\n')
  const found = await findInstallation([node, script], '')
  expect(found?.parts).toEqual([join(home, 'node-24'), join(home, 'app/node_modules')])
})

test('what is not there, or has no interpreter, is not installed', async () => {
  write('bin/orphan', '#!/usr/bin/env no-such-interpreter\n')
  expect(await findInstallation(['no-such-agent'], bin)).toBeUndefined()
  expect(await findInstallation(['orphan'], bin)).toBeUndefined()
  expect(await findInstallation(['/no/such/file'], bin)).toBeUndefined()
})
