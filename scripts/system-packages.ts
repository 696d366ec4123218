import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './shell.ts'

/** The system's commands, and the packages that bring them. */
export interface SystemPackages {
  isRoot(): boolean
  /** Whether a command of that name is on the PATH. */
  isInstalled(command: string): boolean
  /** Whether ours is a Node of that version or newer, or one can be had from npm. */
  hasNode(major: number): boolean
  /** Why packages cannot be installed here, or `undefined` where they can. */
  whyNotInstallable(): string | undefined
  /** Tries to install packages; what it could not do shows in `isInstalled`. */
  install(names: readonly string[]): Promise<void>
}

/** Whether this process runs on a Node of that version or a newer one. */
export function isOurNode(major: number): boolean {
  return Number(process.versions.node.split('.')[0]) >= major
}

/** Debian's packages, which only root can install. */
export const systemPackages: SystemPackages = {
  isRoot: () => process.getuid?.() === 0,

  isInstalled(command) {
    const folders = (process.env.PATH ?? '').split(delimiter)
    return folders.some((folder) => {
      try {
        accessSync(join(folder, command), constants.X_OK)
        return true
      } catch {
        return false
      }
    })
  },

  hasNode: (major) => isOurNode(major) || (process.platform === 'linux' && process.arch === 'x64'),

  whyNotInstallable() {
    if (!existsSync('/etc/debian_version')) return 'this is not Debian'
    if (!systemPackages.isRoot()) return 'only root may install packages'
    return undefined
  },

  async install(names) {
    console.log(`\n== install ${names.join(', ')}`)
    const options = ['install', '--yes', '--no-install-recommends']
    const install = () =>
      run('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', ...options, ...names])
    if ((await install()).exitCode === 0) return
    // A fresh machine has no package lists, an old one has lists of what is gone.
    await run('apt-get', ['update'])
    const { exitCode, output } = await install()
    if (exitCode !== 0) console.log(output)
  },
}
