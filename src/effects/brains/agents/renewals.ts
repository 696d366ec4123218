import { readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../../durable-file.ts'
import { PRIVATE_HOME } from '../../sandbox/bubblewrap-view.ts'
import type { SandboxMount } from '../../sandbox/sandbox.ts'
import { Turns } from '../../turns.ts'
import type { Agent, RenewedFile } from './agent.ts'

/** More than any file of credentials has. */
const FILE_BYTES_MAX = 1024 * 1024

/** Some tokens are good for one renewal, and several agents may have the same. */
const EXCHANGE_MS = 1_000

/** All agents of this process exchange with the same files. */
const turns = new Turns()

/** A file of a user's home that an agent has a copy of. */
export interface Renewal {
  readonly mount: SandboxMount
  /** Takes over what the agent has renewed, once it is gone. Never rejects: who signed out, did. */
  finish(): Promise<void>
}

/** Copies the files of a user's home that an agent may not change as it likes to a folder. */
export async function openRenewals(
  { home }: Agent,
  userHome: string,
  folder: string,
): Promise<readonly Renewal[]> {
  const opened = home.map(async ({ path, renew }, i) => {
    const outside = join(userHome, path)
    if (renew === undefined) return []
    const before = await readFile(outside, 'utf8').catch(() => undefined)
    if (before === undefined) return []
    const copy = join(folder, `renewal-${i}`)
    await writeFile(copy, before, { mode: 0o600 })
    const mount: SandboxMount = { outside: copy, inside: join(PRIVATE_HOME, path), access: 'write' }
    return [{ mount, finish: keepExchanging({ outside, copy, before, renew }) }]
  })
  return (await Promise.all(opened)).flat()
}

interface Copied {
  readonly outside: string
  readonly copy: string
  readonly before: string
  readonly renew: (file: RenewedFile) => string | undefined
}

/** Gives what is renewed in one of two files to the other, until what is returned is called. */
function keepExchanging({ outside, copy, before, renew }: Copied): () => Promise<void> {
  let known = before
  const exchange = () => turns.take([outside], exchangeNow).catch(() => {})
  const exchangeNow = async () => {
    if ((await stat(copy)).size > FILE_BYTES_MAX) return
    const left = await readFile(copy, 'utf8')
    const found = await readFile(outside, 'utf8')
    const renewed = left === known ? undefined : renew({ before: known, left, now: found })
    // Nobody ever sees half of it, and a link to it stays one.
    if (renewed !== undefined) await writeDurably(await realpath(outside), renewed)
    const now = renewed ?? found
    if (now !== known) await writeFile(copy, now)
    known = now
  }
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(exchange)
  }, EXCHANGE_MS).unref()
  return async () => {
    clearInterval(timer)
    await last
    await exchange()
  }
}
