import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A store of images of its own, with one image that has a shell, Node, and little else. */
export interface ImageStore {
  readonly image: string
  /** How podman finds the store. */
  readonly engineArguments: readonly string[]
  remove(): void
}

/** Builds the image out of programs of this machine: nothing is fetched. */
export function buildImage(): ImageStore {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-store-'))
  const root = join(folder, 'root')
  for (const name of [
    'bin',
    'etc',
    'tmp',
    'home',
    'proc',
    'sys',
    'dev',
    'run',
    'usr/bin',
    'root',
  ]) {
    mkdirSync(join(root, name), { recursive: true })
  }
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim()
  copyFileSync(busybox, join(root, 'bin/busybox'))
  for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n')) {
    if (name !== '' && name !== 'busybox') symlinkSync('busybox', join(root, 'bin', name))
  }
  copyWithLibraries(realpathSync(process.execPath), join(root, 'usr/bin/node'), root)
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  const image = 'localhost/slipway-test:1'
  const engineArguments = [
    ...['--root', join(folder, 'store'), '--runroot', join(folder, 'run')],
    ...['--runtime', 'runc', '--cgroup-manager', 'cgroupfs', '--events-backend', 'file'],
    ...['--storage-driver', 'overlay'],
  ]
  const archive = join(folder, 'root.tar')
  execFileSync('tar', ['-C', root, '-cf', archive, '.'])
  execFileSync('podman', [...engineArguments, 'import', archive, image], { stdio: 'ignore' })
  rmSync(archive)
  return {
    image,
    engineArguments,
    remove() {
      execFileSync('podman', [...engineArguments, 'rmi', '--force', image], { stdio: 'ignore' })
      execFileSync('sh', ['-c', `umount ${folder}/store/overlay 2>/dev/null || true`])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function copyWithLibraries(program: string, target: string, root: string): void {
  copyFileSync(program, target)
  const list = execFileSync('ldd', [program], { encoding: 'utf8' })
  for (const library of list.match(/\/[^ ]+/g) ?? []) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(root, library))
  }
}
