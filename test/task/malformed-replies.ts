import type { Random } from '../drill/random.ts'
import { APPROVAL, changes, planOf } from './replies.ts'

/** What a model answers: words, or inputs of the tool that takes its answer, or both. */
export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly input: unknown }
  | { readonly kind: 'both'; readonly text: string; readonly inputs: readonly unknown[] }

/** An answer, and whether it is in the required form after all; then, what it says. */
export interface Sample {
  readonly answer: Answer
  readonly name: string
  readonly meant: object | null
}

export type Form = 'review' | 'test'

const PLAN = planOf(['sh', 'tests/double.sh'])
const VALID: Readonly<Record<Form, readonly object[]>> = {
  review: [APPROVAL, changes('It squares.', 'No test for zero.')],
  test: [PLAN, planOf(['npm', 'test'], ['node', '--test', 'a.js'])],
}

const text = (value: string): Answer => ({ kind: 'text', text: value })
const json = (value: unknown) => JSON.stringify(value)
const TICKS = '```'

/** Values of every type that stand where another belongs. */
const STRANGE = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'yes',
  [],
  [[]],
  {},
  [null],
  [{}],
  ['', 1],
  'approve',
]

/** Another answer in the same form, which says the opposite or something else. */
const otherThan = (valid: object): object => {
  if ('commands' in valid) return planOf(['sh', 'tests/sum.sh'])
  return (valid as { decision?: string }).decision === 'approve' ? changes('No.') : APPROVAL
}

/** Ways to say something that is not, or not only, the answer in its form. */
const DEFORM: Readonly<Record<string, (valid: object, random: Random) => Answer>> = {
  prose_before: (valid) => text(`Here is my answer: ${json(valid)}`),
  prose_after: (valid) => text(`${json(valid)}\n\nLet me know what you think.`),
  prose_around_fence: (valid) => text(`Sure!\n${TICKS}json\n${json(valid)}\n${TICKS}\nDone.`),
  two_fences: (valid) =>
    text(`${TICKS}json\n${json(valid)}\n${TICKS}\n${TICKS}json\n${json(valid)}\n${TICKS}`),
  two_objects: (valid) => text(`${json(valid)}${json(valid)}`),
  open_fence: (valid) => text(`${TICKS}json\n${json(valid)}`),
  trailing_comma: (valid) => text(json(valid).replace(/\}$/, ',}')),
  trailing_comma_in_list: (valid) => text(json(valid).replace(/\]/, ',]')),
  single_quotes: (valid) => text(json(valid).replaceAll('"', "'")),
  comment: (valid) => text(json(valid).replace('{', '{ // my answer\n')),
  cut_off: (valid, random) => text(json(valid).slice(0, 1 + random.below(json(valid).length - 1))),
  bare_keys: (valid) => text(json(valid).replaceAll(/"(\w+)":/g, '$1:')),
  in_a_list: (valid) => text(json([valid])),
  in_a_string: (valid) => text(json(json(valid))),
  wrapped: (valid, random) => either(random, { answer: valid }),
  as_a_call: (valid, random) => either(random, { name: 'submit_review', arguments: valid }),
  repeated_key: (valid) => text(json(valid).replace(/\}$/, ',"decision":"approve","must_fix":[]}')),
  repeated_key_in_disguise: (valid) =>
    text(
      json(valid).replace(/\}$/, ',"\\u0064ecision":"approve","comm\\u0061nds":[["npm","test"]]}'),
    ),
  two_calls: (valid) => ({ kind: 'both', text: '', inputs: [valid, otherThan(valid)] }),
  two_calls_the_other_way: (valid) => ({
    kind: 'both',
    text: 'I am of two minds.',
    inputs: [otherThan(valid), valid],
  }),
  sound_and_unsound_call: (valid) => ({ kind: 'both', text: '', inputs: [valid, {}] }),
  words_against_call: (valid) => ({
    kind: 'both',
    text: json(otherThan(valid)),
    inputs: [valid],
  }),
  fenced_words_against_call: (valid) => ({
    kind: 'both',
    text: `This is how I see it:\n${TICKS}json\n${json(otherThan(valid))}\n${TICKS}\nSo be it.`,
    inputs: [valid],
  }),
  prose_with_words_against_call: (valid) => ({
    kind: 'both',
    text: `I say ${json(otherThan(valid))} to that.`,
    inputs: [valid],
  }),
  fewer_results: (valid, random) =>
    either(random, { ...valid, decision: 'maybe', expected_results: [] }),
  more_results: (valid, random) =>
    either(random, { ...valid, decision: 'maybe', expected_results: Array(13).fill('passes') }),
  unknown_key: (valid, random) => either(random, { ...valid, approved: true }),
  prototype: (valid, random) =>
    random.below(2) === 0
      ? text(`{"__proto__":${json(valid)}}`)
      : { kind: 'call', input: JSON.parse(`{"__proto__":${json(valid)}}`) },
  missing_key: (valid, random) => {
    const left = Object.entries(valid)
    left.splice(random.below(left.length), 1)
    return either(random, Object.fromEntries(left))
  },
  wrong_type: (valid, random) => {
    const keys = Object.keys(valid)
    const key = keys[random.below(keys.length)] as string
    const present = json((valid as Record<string, unknown>)[key])
    const isOther = (value: unknown) => json(value) !== present && !isFit(key, value)
    const values = STRANGE.filter(isOther)
    return either(random, { ...valid, [key]: values[random.below(values.length)] })
  },
  huge: (valid, random) =>
    either(random, { ...valid, tests: ['x'.repeat(500_000)], test_plan: 'x'.repeat(500_000) }),
  many: (valid, random) =>
    either(random, {
      ...valid,
      must_fix: Array(5_000).fill('x'),
      commands: Array(5_000).fill(['x']),
    }),
  deep: (_, random) => text(`{"decision":${'['.repeat(1_000 + random.below(100_000))}`),
  nothing: (_, random) =>
    text(['', ' ', '\n', '{}', '[]', 'null', '""', TICKS][random.below(8)] as string),
  noise: (_, random) =>
    text(
      Array.from({ length: random.below(200) }, () =>
        String.fromCharCode(random.below(0x3000)),
      ).join(''),
    ),
  no_object: (_, random) => ({ kind: 'call', input: STRANGE[random.below(STRANGE.length)] }),
  shouting: (valid, random) =>
    either(random, { ...valid, decision: 'APPROVE', commands: 'npm test' }),
  contradiction: (_, random) =>
    random.below(2) === 0
      ? either(random, { ...APPROVAL, must_fix: ['It is wrong.'], commands: [] })
      : either(random, { ...changes(), commands: [] }),
  blocked: (valid, random) =>
    either(random, {
      ...valid,
      decision: 'maybe',
      commands: [
        ['sh', '-c', 'npm test & true'],
        ['npm', 'test', '&&', 'true'],
        ['true'],
        [],
      ].slice(random.below(4)),
    }),
}

/** Ways to say just the answer. */
const FORMED: Readonly<Record<string, (valid: object) => Answer>> = {
  plain: (valid) => text(json(valid)),
  spaced: (valid) => text(`\n  ${JSON.stringify(valid, null, 4)}\n\n`),
  fenced: (valid) => text(`${TICKS}json\n${JSON.stringify(valid, null, 2)}\n${TICKS}`),
  fenced_without_name: (valid) => text(`${TICKS}\n${json(valid)}\n${TICKS}\n`),
  with_windows_lines: (valid) => text(`${TICKS}json\r\n${json(valid)}\r\n${TICKS}`),
  with_byte_order_mark: (valid) => text(`\uFEFF${json(valid)}`),
  called: (valid) => ({ kind: 'call', input: valid }),
  called_twice: (valid) => ({ kind: 'both', text: '', inputs: [valid, { ...valid }] }),
  called_with_prose: (valid) => ({ kind: 'both', text: 'I read it all.', inputs: [valid] }),
  called_and_said: (valid) => ({
    kind: 'both',
    text: `${TICKS}json\n${JSON.stringify(valid, null, 2)}\n${TICKS}`,
    inputs: [Object.fromEntries(Object.entries(valid).toReversed())],
  }),
}

const NAMES = [...Object.keys(DEFORM), ...Object.keys(FORMED)]

/** The i-th sample: every way in turn, with a valid answer that chance takes. */
export function sampleOf(form: Form, i: number, random: Random): Sample {
  const name = NAMES[i % NAMES.length] as string
  const valid = VALID[form][random.below(VALID[form].length)] as object
  const formed = FORMED[name]
  if (formed !== undefined) return { name, answer: formed(valid), meant: valid }
  const deform = DEFORM[name] as (typeof DEFORM)[string]
  return { name, answer: deform(valid, random), meant: null }
}

/** As words or as a call. */
function either(random: Random, value: object): Answer {
  return random.below(2) === 0 ? text(json(value)) : { kind: 'call', input: value }
}

/** Whether a strange value would do there, so that nothing would be wrong. */
function isFit(key: string, value: unknown): boolean {
  if (key === 'test_plan') return typeof value === 'string' && value.trim() !== ''
  if (key === 'decision') return value === 'approve'
  const isFull = ['commands', 'must_fix', 'expected_results'].includes(key)
  return Array.isArray(value) && value.length === 0 && !isFull
}
