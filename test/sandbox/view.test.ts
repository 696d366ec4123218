import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { describeHosts } from './promises/hosts.ts'
import { describeMounts } from './promises/mounts.ts'
import { END_ALL, inSandbox, makeFolder, type Subject } from './subject.ts'

const uid = process.getuid?.() ?? 0
const opened: { processes: Processes; folder: string }[] = []

afterAll(async () => {
  for (const { processes, folder } of opened) {
    await processes.close()
    rmSync(folder, { recursive: true })
  }
})

/** A subject whose state folder is the given one. */
async function subjectIn(stateFolder: string, toolFolders: readonly string[] = []) {
  const processes = openProcesses(stateFolder)
  opened.push({ processes, folder: stateFolder })
  const isolation = await openBubblewrap(processes, { stateFolder, toolFolders })
  const subject: Subject = { level: 'bubblewrap', uid, stateFolder, isolation: () => isolation }
  return subject
}

test.runIf(uid === 0)('a state folder below a folder that is seen is hidden', async () => {
  const stateFolder = mkdtempSync('/opt/slipway-test-')
  // Not as a private folder of /opt, which is hidden in any case.
  chmodSync(stateFolder, 0o755)
  const subject = await subjectIn(stateFolder)
  writeFileSync(join(subject.stateFolder, 'journal.db'), 'private')
  await inSandbox(subject, {}, async ({ sh, workspace }) => {
    const { stdout } = await sh(`ls ${subject.stateFolder}; ls /opt | grep -c slipway-test`)
    expect(stdout.toString()).toBe('workspaces\n1\n')
    expect((await sh(`touch ${subject.stateFolder}/x`)).exitCode).not.toBe(0)
    expect((await sh('echo x > file.txt')).exitCode).toBe(0)
    expect(readFileSync(join(workspace, 'file.txt'), 'utf8')).toBe('x\n')
  })
})

test.runIf(uid === 0)('what root alone may read is not seen, also where people put things', () => {
  // In a mount namespace of its own, since these folders are everybody's.
  const code = `
    import { openProcesses } from './src/effects/process/processes.ts'
    import { openBubblewrap } from './src/effects/sandbox/bubblewrap.ts'
    const [stateFolder] = process.argv.slice(1)
    const processes = openProcesses(stateFolder)
    const isolation = await openBubblewrap(processes, { stateFolder, toolFolders: ['/opt/tool'] })
    const sandbox = await isolation.open({ workspace: '/opt/open/place', access: 'write' })
    const script = 'cat own /opt/app/key /opt/open/key /usr/local/etc/key /opt/tool/notes; ' +
      'cat /opt/open/text; /opt/tool/greet; /opt/open/run'
    const limits = { timeoutMs: 10_000, outputBytesMax: 10_000 }
    const { stdout } = await sandbox.run({ argv: ['sh', '-c', script], ...limits })
    process.stdout.write(stdout)
    await sandbox.close()
    await processes.close()`
  const own = '/opt/open /usr/local/etc'
  const script = `set -e
    mount -t tmpfs none /opt
    mount -t tmpfs none /usr/local/etc
    mkdir -m 700 /opt/app /opt/tool
    mkdir -p /opt/open/place
    (umask 077; echo mine > /opt/open/place/own)
    for folder in /opt/app ${own}; do echo secret > $folder/key; chmod 600 $folder/key; done
    echo public > /opt/open/text
    echo wanted > /opt/tool/notes
    printf '#!/bin/sh\necho $0\n' | tee /opt/tool/greet > /opt/open/run
    chmod 700 /opt/tool/greet /opt/open/run
    exec "$0" --import tsx --input-type=module --eval "$@"`
  const stateFolder = makeFolder(uid)
  const argv = ['--mount', 'sh', '-c', script, process.execPath, code, stateFolder]
  const { stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' })
  rmSync(stateFolder, { recursive: true })
  expect(stdout, stderr).toBe('mine\nwanted\npublic\n/opt/tool/greet\n/opt/open/run\n')
})

test('tools outside the system are found, and cannot be changed', async () => {
  const tools = makeFolder(uid)
  mkdirSync(join(tools, 'bin'))
  writeFileSync(join(tools, 'bin', 'greet'), '#!/bin/sh\necho hello\n')
  chmodSync(join(tools, 'bin', 'greet'), 0o755)
  const subject = await subjectIn(makeFolder(uid), [tools])
  await inSandbox(subject, {}, async ({ sh }) => {
    expect((await sh('greet')).stdout.toString()).toBe('hello\n')
    expect((await sh(`echo >> ${tools}/bin/greet`)).exitCode).not.toBe(0)
  })
  rmSync(tools, { recursive: true })
})

test('a tool folder that would show a home, or is not there, is refused', async () => {
  for (const folder of [homedir(), '/', '/no/such/folder']) {
    await expect(subjectIn(makeFolder(uid), [folder]), folder).rejects.toThrow(folder)
  }
})

test('a link does not make a tool folder of a home', async () => {
  const folder = makeFolder(uid)
  const link = join(folder, 'link')
  symlinkSync(homedir(), link)
  await expect(subjectIn(makeFolder(uid), [link])).rejects.toThrow(/cannot be a tool folder/)
  rmSync(folder, { recursive: true })
})

test('tools are found by a link, and where it leads', async () => {
  const folder = makeFolder(uid)
  mkdirSync(join(folder, 'real/bin'), { recursive: true })
  writeFileSync(join(folder, 'real/bin/greet'), '#!/bin/sh\necho hello\n')
  chmodSync(join(folder, 'real/bin/greet'), 0o755)
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'real'), link)
  const subject = await subjectIn(makeFolder(uid), [link])
  await inSandbox(subject, {}, async ({ sh }) => {
    for (const place of [link, join(folder, 'real')]) {
      expect((await sh(`${place}/bin/greet`)).stdout.toString()).toBe('hello\n')
    }
  })
  rmSync(folder, { recursive: true })
})

describeMounts('a mount', async () => subjectIn(makeFolder(uid)))

test.runIf(process.arch === 'x64')('keys of the kernel are not to be had', async () => {
  const subject = await subjectIn(makeFolder(uid))
  await inSandbox(subject, {}, async ({ sh }) => {
    // 250 is keyctl, and asks for the session's keys; 39 is getpid.
    const ask = (call: string) =>
      `perl -e 'my $r = syscall(${call}); print $r < 0 ? "no $!{ENOSYS}" : "yes"'`
    expect((await sh(ask('39'))).stdout.toString()).toBe('yes')
    expect((await sh(ask('250, 0, -3, 0'))).stdout.toString()).toMatch(/^no [1-9]/)
  })
})

describe('a workspace', () => {
  test('is refused when its .git is a link', async () => {
    const subject = await subjectIn(makeFolder(uid))
    const workspace = makeFolder(uid)
    symlinkSync('/tmp', join(workspace, '.git'))
    const opening = subject.isolation().open({ workspace, access: 'write' })
    await expect(opening).rejects.toThrow('is a link')
    rmSync(workspace, { recursive: true })
  })

  test('whose .git is a file has that file protected', async () => {
    const subject = await subjectIn(makeFolder(uid))
    const workspace = makeFolder(uid)
    writeFileSync(join(workspace, '.git'), 'gitdir: elsewhere\n')
    const sandbox = await subject.isolation().open({ workspace, access: 'write' })
    const argv = ['sh', '-c', 'echo x > .git; rm -f .git; mv .git a'] as const
    await sandbox.run({ argv, timeoutMs: 5_000, outputBytesMax: 1_000 })
    await sandbox.close()
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe('gitdir: elsewhere\n')
    rmSync(workspace, { recursive: true })
  })

  test('cannot be moved out of the way of the next command', async () => {
    const subject = await subjectIn(makeFolder(uid))
    await inSandbox(subject, {}, async ({ sh, workspace }) => {
      for (let folder = workspace; folder !== '/'; folder = join(folder, '..')) {
        await sh(`mv ${folder} /tmp/elsewhere; mkdir -p ${workspace}; cp -r . ${workspace}`)
      }
      await sh('echo real > proof')
      expect(readFileSync(join(workspace, 'proof'), 'utf8')).toBe('real\n')
    })
  })

  test('has commands that run side by side and do not see each other', async () => {
    const subject = await subjectIn(makeFolder(uid))
    await inSandbox(subject, {}, async ({ sh }) => {
      const long = sh('while [ ! -e done ]; do sleep 0.02; done; echo ended by itself')
      const other = await sh(`${END_ALL}; ps ax | grep -c "[e]nded by itself"; touch done`)
      expect(other.stdout.toString().trim()).toBe('0')
      expect((await long).stdout.toString()).toBe('ended by itself\n')
    })
  })
})

describe('bubblewrap and its', () => {
  let isolation: Isolation
  const stateFolder = makeFolder(uid)
  const subject: Subject = { level: 'bubblewrap', uid, stateFolder, isolation: () => isolation }
  test('isolation opens', async () => {
    isolation = (await subjectIn(stateFolder)).isolation()
  })
  describeHosts(subject)
})
