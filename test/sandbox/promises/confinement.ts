import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { inSandbox, makeFolder, type Subject, succeeding } from '../subject.ts'

/** What a model might try with the repository, whose hooks and filters others would run. */
const TAMPERING = [
  'echo "touch /tmp/ran" > .git/hooks/pre-commit',
  'echo "[core] fsmonitor = /tmp/x" >> .git/config',
  'mv .git .git-old && mkdir -p .git/hooks && echo x > .git/hooks/post-checkout',
  'rm -rf .git && mkdir .git',
  'ln -sfn /tmp .git',
  'mkdir other && ln -s ../other .git/hooks/link',
  'ln .git/config alias && echo x >> alias',
  'cd .git && echo x > ../.git/./config',
  'echo x > "$(pwd)/../$(basename "$(pwd)")/.git/config"',
  'touch .git/index.lock',
  'chmod 777 .git/config && echo x > .git/config',
  'mount -o remount,rw "$PWD/.git"; echo x > .git/config',
  'umount "$PWD/.git"; echo x > .git/config',
  'unshare -Urm sh -c "mount -o remount,bind,rw $PWD/.git; echo x > .git/config"',
  'unshare -Urm sh -c "umount -l $PWD/.git; echo x > .git/config"',
]

/** What only a level that confines promises of files. */
export function describeConfinement(subject: Subject, foreignFolder: string): void {
  test('nothing is written but the workspace and private places', () =>
    inSandbox(subject, {}, async ({ sh, workspace }) => {
      const system = ['/', '/usr', '/etc', '/opt', '/dev', '/proc', '/sys', '/run', '/var', '/root']
      const users = [subject.stateFolder, join(workspace, '..'), foreignFolder, '/home', '/tmp']
      const paths = [...system, ...users].map((folder) => join(folder, 'slipway-was-here'))
      const writes = paths.flatMap((path) => [
        `mkdir -p ${dirname(path)}; echo x > ${path}`,
        `ln -s ${path} link; echo x > link`,
        'rm link',
      ])
      await succeeding(sh, writes)
      expect(paths.filter((path) => existsSync(path))).toEqual([])
      expect(await succeeding(sh, ['echo x > file.txt && echo x > new'])).toHaveLength(1)
      expect(readFileSync(join(workspace, 'new'), 'utf8')).toBe('x\n')
    }))

  test('.git is as it was, whatever is tried', () =>
    inSandbox(subject, {}, async ({ sh, workspace }) => {
      await succeeding(sh, TAMPERING)
      const entries = readdirSync(join(workspace, '.git'), { recursive: true })
      expect(entries.sort()).toEqual(['config', 'hooks'])
      expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe('[core]\n')
    }))

  test('planning reads, and writes nothing in the workspace', () =>
    inSandbox(subject, { access: 'read' }, async ({ sh, workspace }) => {
      expect((await sh('cat file.txt')).stdout.toString()).toBe('as it was\n')
      const writes = ['echo x > file.txt', 'touch new', 'rm file.txt', 'mkdir d', 'mv file.txt f']
      const remount = 'unshare -Urm sh -c "mount -o remount,bind,rw $PWD; touch new"'
      expect(await succeeding(sh, [...writes, remount])).toEqual([])
      expect(readdirSync(workspace).sort()).toEqual(['.git', 'file.txt'])
      expect(readFileSync(join(workspace, 'file.txt'), 'utf8')).toBe('as it was\n')
    }))

  test('what is mounted besides is written only where it may be', async () => {
    const folder = makeFolder(subject.uid)
    const mounts = (['read', 'write'] as const).map((access) => {
      const outside = join(folder, access)
      writeFileSync(outside, 'old\n')
      chmodSync(outside, 0o666)
      return { outside, inside: `/home/sandbox/.agent/${access}`, access }
    })
    await inSandbox(subject, { mounts }, async ({ sh }) => {
      expect((await sh('cat ~/.agent/read ~/.agent/write')).stdout.toString()).toBe('old\nold\n')
      const tries = ['echo new > ~/.agent/read', 'rm ~/.agent/read', 'mv ~/.agent/read ~/x']
      expect(await succeeding(sh, tries)).toEqual([])
      expect(
        await succeeding(sh, ['echo new > ~/.agent/write', 'touch ~/.agent/own']),
      ).toHaveLength(2)
    })
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      'old\n',
      'new\n',
    ])
    rmSync(folder, { recursive: true })
  })

  test('other workspaces and the state folder are not seen', () =>
    inSandbox(subject, {}, async ({ sh, workspace }) => {
      const { stdout } = await sh(`cd ${subject.stateFolder}; ls -A . workspaces`)
      expect(stdout.toString()).toBe(`.:\nworkspaces\n\nworkspaces:\n${basename(workspace)}\n`)
    }))
}
