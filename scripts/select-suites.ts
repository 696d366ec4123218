import type { Suite } from '../test/suites.ts'
import type { SystemPackages } from './system-packages.ts'

/** The suites that can run here, and for each other one why not and what would help. */
export interface Selection {
  readonly runnable: readonly Suite[]
  readonly skips: readonly string[]
}

/** Selects the suites whose needs are met, after installing what can be installed. */
export async function selectSuites(
  suites: readonly Suite[],
  system: SystemPackages,
): Promise<Selection> {
  const missing = (suite: Suite) =>
    Object.entries(suite.needs ?? {}).flatMap(([command, name]) =>
      system.isInstalled(command) ? [] : [name],
    )
  const obstacle = system.whyNotInstallable()
  const wanted = new Set(suites.flatMap(missing))
  if (wanted.size > 0 && obstacle === undefined) await system.install([...wanted])

  const skips = suites.flatMap((suite) => {
    if (suite.needsRoot !== undefined && !system.isRoot()) {
      return [{ suite, why: `${suite.name}: only root is allowed ${suite.needsRoot}` }]
    }
    if (suite.nodeMin !== undefined && !system.hasNode(suite.nodeMin)) {
      return [{ suite, why: `${suite.name}: needs Node ${suite.nodeMin}, or Linux on x64` }]
    }
    const packages = missing(suite).join(' ')
    if (packages === '') return []
    const reason = obstacle ?? 'the installation failed'
    return [{ suite, why: `${suite.name}: ${reason}; to run it: apt-get install ${packages}` }]
  })
  return {
    runnable: suites.filter((suite) => !skips.some((skip) => skip.suite === suite)),
    skips: skips.map(({ why }) => why),
  }
}
