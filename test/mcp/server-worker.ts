import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { makeServer, type ServerMood } from './make-server.ts'

/**
 * A server over its standard streams. `node worker.mjs <mood as JSON>`; each start is a line in the
 * file that the mood names.
 */
const mood = JSON.parse(process.argv[2] ?? '{}') as ServerMood & {
  readonly startsFile?: string
  readonly talk?: string
  readonly isModern?: boolean
  /** What it says as it crashes. */
  readonly complaint?: string
}

if (mood.startsFile !== undefined) appendFileSync(mood.startsFile, `${process.pid}\n`)
if (mood.talk !== undefined) process.stdout.write(mood.talk)

serveStdio(
  () =>
    makeServer(mood, {
      environment: () => JSON.stringify(process.env),
      crash() {
        process.stderr.write(`${mood.complaint ?? 'out of cheese'}\n`)
        process.exit(7)
      },
      // It leaves its group and its parent, as daemons do.
      child: () => String(spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }).pid),
    }),
  { legacy: mood.isModern ? 'reject' : 'serve' },
)
