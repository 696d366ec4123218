/** What a check found: fine, worth knowing, or in the way of a run. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'missing'
  readonly found: string
  /** What to do about it. */
  readonly fix?: string
}

export function ok(name: string, found: string): Check {
  return { name, status: 'ok', found }
}

export function warn(name: string, found: string, fix: string): Check {
  return { name, status: 'warn', found, fix }
}

export function missing(name: string, found: string, fix: string): Check {
  return { name, status: 'missing', found, fix }
}

/**
 * A check that always ends: what takes too long or throws is itself what was found. The work is
 * left behind; whoever gave it processes ends them.
 */
export async function bounded(
  name: string,
  timeoutMs: number,
  work: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly Check[]>((resolve) => {
    const found = `no answer within ${timeoutMs / 1_000} s`
    timer = setTimeout(() => resolve([missing(name, found, 'Try it by hand.')]), timeoutMs)
  })
  const failed = (error: unknown) => [
    missing(name, error instanceof Error ? error.message : String(error), 'Mend that.'),
  ]
  try {
    return await Promise.race([work().catch(failed), late])
  } finally {
    clearTimeout(timer)
  }
}
