/** What clients ask besides for replies, before their first request or to count tokens. */
export function answerSideRoute(
  method: string,
  path: string,
  text: string,
): { readonly status: number; readonly body: unknown } {
  const route = ROUTES.find(([pattern]) => pattern.test(`${method} ${path}`))
  if (route === undefined) {
    const message = `no such route: ${method} ${path}`
    return { status: 404, body: { error: { message, type: 'not_found_error', code: null } } }
  }
  return { status: 200, body: route[1](text) }
}

const MODEL = 'test-model'

const ROUTES: readonly (readonly [RegExp, (text: string) => unknown])[] = [
  [/^(HEAD|GET) \/$/, () => ({})],
  [/^POST .*\/messages\/count_tokens$/, (text) => ({ input_tokens: tokensIn(text) })],
  [/^POST .*:countTokens$/, (text) => ({ totalTokens: tokensIn(text) })],
  [
    /^GET \/v1beta\/models$/,
    () => ({
      models: [{ name: `models/${MODEL}`, supportedGenerationMethods: ['generateContent'] }],
    }),
  ],
  [
    /^GET .*\/models$/,
    () => ({
      object: 'list',
      data: [{ id: MODEL, object: 'model', type: 'model', created: 1_760_000_000 }],
      has_more: false,
    }),
  ],
  [/^GET \/api\/version$/, () => ({ version: '0.12.6' })],
  [/^GET \/api\/tags$/, () => ({ models: [{ name: MODEL, model: MODEL, size: 1 }] })],
  [
    /^POST \/api\/show$/,
    () => ({
      capabilities: ['completion', 'tools'],
      model_info: { 'llama.context_length': 32_768 },
    }),
  ],
]

function tokensIn(text: string): number {
  return Math.ceil(text.length / 4)
}
