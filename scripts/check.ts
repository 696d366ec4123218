/** `npm run check`: everything that can be said about the code without running it. */
import { CHECKS } from './checks.ts'
import { run } from './shell.ts'

const exitCodes = await Promise.all(
  Object.entries(CHECKS).map(async ([name, [command, ...args]]) => {
    const { exitCode, output, durationMs } = await run(`node_modules/.bin/${command}`, args)
    const verdict = exitCode === 0 ? 'ok    ' : 'FAILED'
    console.log(`${verdict} ${name} (${(durationMs / 1000).toFixed(1)} s)`)
    if (exitCode !== 0) console.log(output)
    return exitCode
  }),
)
process.exitCode = exitCodes.every((exitCode) => exitCode === 0) ? 0 : 1
