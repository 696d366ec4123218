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

/**
 * Whether a provider answers and takes the key. Costs nothing. Never rejects. A server without the
 * route is taken to be well: the next turn will tell.
 */
export async function probeProvider(choice: ApiModelChoice, signal: AbortSignal): Promise<boolean> {
  try {
    const url = `${baseUrlOf(choice).replace(/\/+$/, '')}${ROUTES[choice.provider]}`
    const response = await fetch(url, { headers: headersFor(choice), signal, redirect: 'error' })
    await response.body?.cancel()
    return response.ok || NO_ROUTE.includes(response.status)
  } catch {
    return false
  }
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
