import { type ApiModelChoice, baseUrlOf } from './api-model.ts'

/** What each provider answers to whoever has a key, without thinking. */
const ROUTES: Readonly<Record<ApiModelChoice['provider'], string>> = {
  anthropic: '/models',
  openai: '/models',
  google: '/models',
  ollama: '/api/tags',
  'openai-compatible': '/models',
}

/** Statuses of a server that is there and does not have the route. */
const NO_ROUTE = [404, 405, 501]

/** How a provider is: `refused` is its word about the key, and `failing` any other that is bad. */
export type ProviderHealth =
  | { readonly kind: 'well' | 'silent' }
  | { readonly kind: 'refused' | 'failing'; readonly status: number }

/** Whether a provider answers and takes the key. Costs nothing. Never rejects. */
export async function probeProvider(choice: ApiModelChoice, signal: AbortSignal): Promise<boolean> {
  return (await examineProvider(choice, signal)).kind === 'well'
}

/** The same, with what is wrong. A server without the route is well: the next turn will tell. */
export async function examineProvider(
  choice: ApiModelChoice,
  signal: AbortSignal,
): Promise<ProviderHealth> {
  try {
    const url = `${baseUrlOf(choice).replace(/\/+$/, '')}${ROUTES[choice.provider]}`
    const response = await fetch(url, { headers: headersFor(choice), signal, redirect: 'error' })
    await response.body?.cancel()
    const { ok, status } = response
    if (ok || NO_ROUTE.includes(status)) return { kind: 'well' }
    return { kind: refusesKey(status) ? 'refused' : 'failing', status }
  } catch {
    return { kind: 'silent' }
  }
}

/** Whether a status is about the key. */
export function refusesKey(status: number): boolean {
  return status === 401 || status === 403
}

/** How a provider is shown the key. */
export function headersFor({
  provider,
  apiKey,
}: Pick<ApiModelChoice, 'provider' | 'apiKey'>): Record<string, string> {
  if (apiKey === '') return {}
  if (provider === 'google') return { 'x-goog-api-key': apiKey }
  if (provider !== 'anthropic') return { authorization: `Bearer ${apiKey}` }
  return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
}
