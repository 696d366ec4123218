import type { LanguageModelV3 } from '@ai-sdk/provider'

export type ApiProvider = 'anthropic' | 'openai' | 'google' | 'ollama' | 'openai-compatible'

/** Which model is asked, and where. There is no default model: a name in code outlives its model. */
export type ApiModelChoice = {
  readonly model: string
  /** Empty where none is needed. */
  readonly apiKey: string
} & (
  | { readonly provider: 'anthropic' | 'openai' | 'google'; readonly baseUrl?: string }
  | { readonly provider: 'openai-compatible'; readonly baseUrl: string }
  | {
      readonly provider: 'ollama'
      readonly baseUrl?: string
      /** Sent with every request: Ollama loads a model with 4,096 tokens of context otherwise. */
      readonly contextTokens: number
    }
)

/** A model as the provider's library speaks to it. */
export type ApiModel = Pick<LanguageModelV3, 'doStream'>

// Said here, so that no library takes an address from the environment.
const BASE_URL = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434',
} as const

/** Where a choice's provider is asked. */
export function baseUrlOf(choice: ApiModelChoice): string {
  return choice.provider === 'openai-compatible'
    ? choice.baseUrl
    : (choice.baseUrl ?? BASE_URL[choice.provider])
}

/** By whose list a choice is paid: behind another address a name may have another price. */
export function sellerOf(choice: ApiModelChoice): ApiProvider {
  const { provider } = choice
  if (provider === 'ollama' || provider === 'openai-compatible') return provider
  const isOwn = new URL(baseUrlOf(choice)).host === new URL(BASE_URL[provider]).host
  return isOwn ? provider : 'openai-compatible'
}

/**
 * Loads the library of one provider, and no other. `isCounted` is whether a compatible server is
 * asked to tell what was used; the others do so unasked.
 */
export async function loadModel(
  choice: ApiModelChoice,
  fetch: typeof globalThis.fetch,
  isCounted = true,
): Promise<ApiModel> {
  const { model, apiKey } = choice
  const baseURL = baseUrlOf(choice)
  switch (choice.provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ baseURL, apiKey, fetch })(model)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ baseURL, apiKey, fetch }).responses(model)
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      return createGoogleGenerativeAI({ baseURL, apiKey, fetch })(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const name = 'compatible'
      const key = apiKey === '' ? {} : { apiKey }
      const settings = { name, baseURL, fetch, includeUsage: isCounted, ...key }
      return createOpenAICompatible(settings)(model)
    }
    case 'ollama': {
      const { openOllamaModel } = await import('./ollama-model.ts')
      const { contextTokens } = choice
      return openOllamaModel({ model, apiKey, baseUrl: baseURL, contextTokens, fetch })
    }
  }
}
