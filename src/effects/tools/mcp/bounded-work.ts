import { type Context, createContext, Script } from 'node:vm'

const run = new Script('work()')
let context: (Context & { work: () => void }) | undefined

/**
 * Does something here and now, and gives it up after so many milliseconds, or when it takes all the
 * room for calls within calls; undefined then. Nothing else of Node stops a regular expression that
 * has begun.
 */
export function doWithin<T>(timeoutMs: number, work: () => T): { readonly result: T } | undefined {
  let done: { readonly result: T } | undefined
  context ??= createContext({ work }) as typeof context & {}
  context.work = () => {
    done = { result: work() }
  }
  try {
    run.runInContext(context, { timeout: timeoutMs })
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT' && name !== 'RangeError') throw error
  }
  return done
}
