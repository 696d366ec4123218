import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './shell.ts'

/** Whether a command of that name is on the PATH. */
export function isInstalled(command: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Why packages cannot be installed here, or `undefined` where they can: as root, on Debian. */
export function whyNotInstallable(): string | undefined {
  if (!existsSync('/etc/debian_version')) return 'this is not Debian'
  if (process.getuid?.() !== 0) return 'only root may install packages'
  return undefined
}

/** Installs Debian packages; the package lists are fetched when the first try shows they are old. */
export async function installPackages(names: readonly string[]): Promise<void> {
  const install = () =>
    run('env', [
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      'install',
      '--yes',
      '--no-install-recommends',
      ...names,
    ])
  if ((await install()).exitCode === 0) return
  await run('apt-get', ['update'])
  await install()
}
