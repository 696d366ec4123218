/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string
  /** Since when there is such a model, where the provider says so. */
  readonly createdMs?: number
  readonly contextTokens?: number
  readonly outputTokens?: number
}

/** What models are called that do something else than to converse and call tools. */
const OTHER_TRADES = [
  /[-_.:/](?:embed\w*|minilm|rerank\w*|aqa|ocr|moderat\w*|guard\w*|safety|(?:re)?search)[-_.:/]/i,
  /[-_.:/](?:whisper|tts|speech|audio|voice|realtime|live|transcri\w*|translat\w*|music)[-_.:/]/i,
  /[-_.:/](?:image\w*|dall|sora|veo|video|diffusion|robotics|computer|babbage|davinci)[-_.:/]/i,
  /^-ft:/,
]

/** Small siblings, which are chosen when there is no other. */
const SMALL = /(?:^|[-_.:/])(?:mini|nano|lite|small|tiny|micro)(?:$|[-_.:/\d])/i

/** What is not meant to last. */
const PREVIEW = /preview|experimental|(?:^|[-_])(?:exp|beta|alpha|rc)(?:$|[-_\d])/i

/** Of models that appeared so close to each other the newer is no better. */
const SAME_AGE_MS = 30 * 86_400_000

/**
 * The models that can be chosen, the best first: of those that converse, whole before small, lasting
 * before previews, then what appeared within a month of the newest; of these the highest numbers in
 * its name, then the shortest name.
 */
export function rankModels(listed: readonly ListedModel[]): readonly ListedModel[] {
  const classes = new Map<number, ListedModel[]>()
  for (const model of listed.filter(converses)) {
    const rank = 2 * Number(SMALL.test(model.id)) + Number(PREVIEW.test(model.id))
    classes.set(rank, [...(classes.get(rank) ?? []), model])
  }
  return [...classes.entries()].sort(([a], [b]) => a - b).flatMap(([, models]) => rank(models))
}

function converses({ id }: ListedModel): boolean {
  return !OTHER_TRADES.some((trade) => trade.test(`-${id}-`))
}

function rank(models: readonly ListedModel[]): readonly ListedModel[] {
  const newestMs = Math.max(...models.map(({ createdMs = 0 }) => createdMs))
  const isOld = ({ createdMs = 0 }: ListedModel) => newestMs - createdMs > SAME_AGE_MS
  const ageMs = (model: ListedModel) => (isOld(model) ? newestMs - (model.createdMs ?? 0) : 0)
  return [...models].sort(
    (a, b) =>
      ageMs(a) - ageMs(b) ||
      compareVersions(versionOf(b.id), versionOf(a.id)) ||
      a.id.length - b.id.length ||
      (a.id < b.id ? -1 : 1),
  )
}

/** The numbers of a name up to its date, without sizes: 2 and 5 of `x-2.5-70b-2025-06-01`. */
function versionOf(id: string): readonly number[] {
  const numbers = id.match(/\d+(?![\dxbkm])/gi) ?? []
  const date = numbers.findIndex((each) => each.length >= 3)
  return numbers.slice(0, date === -1 ? undefined : date).map(Number)
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
