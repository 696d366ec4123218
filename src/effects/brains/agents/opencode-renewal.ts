import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { RenewedFile } from './agent.ts'

const accountsSchema = z.record(z.string(), z.looseObject({ type: z.string() }))

const tokensSchema = z.object({
  type: z.literal('oauth'),
  access: z.string(),
  refresh: z.string(),
  expires: z.number(),
})

/**
 * The credentials of opencode with the tokens that it has renewed; undefined where there are none.
 * No account is added, and no address changed: opencode takes commands to run from the address of
 * some accounts.
 */
export function renewOpencode({ before, left, now }: RenewedFile): string | undefined {
  const [old, changed, current] = [before, left, now].map(readAccounts)
  const renewed = Object.entries(changed ?? {}).flatMap(([name, account]) => {
    const [was, is] = [tokensOf(old?.[name]), tokensOf(account)]
    const known = current?.[name]
    if (was === undefined || is === undefined || tokensOf(known) === undefined) return []
    return isDeepStrictEqual(was, is) ? [] : [[name, { ...known, ...is }] as const]
  })
  if (renewed.length === 0) return undefined
  return JSON.stringify({ ...current, ...Object.fromEntries(renewed) }, null, 2)
}

function readAccounts(text: string): z.infer<typeof accountsSchema> | undefined {
  try {
    return accountsSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

function tokensOf(account: unknown): z.infer<typeof tokensSchema> | undefined {
  return tokensSchema.safeParse(account).data
}
