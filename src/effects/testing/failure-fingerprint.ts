import { createHash } from 'node:crypto'

/** What makes one failure different from another. */
export interface Failure {
  /** What failed and how: the verdict, the code, the command, its exit code. */
  readonly facts: readonly (string | number | null)[]
  readonly failing: readonly string[]
  /** Everything that was printed, as plain text. */
  readonly text: string
}

/** Lines in which something complains; in any order, since tests may run at the same time. */
const COMPLAINT =
  /error|exception|fail|panic|assert|expect|actual|received|got\b|not ok|abort|left:|right:/i

const COMPLAINTS_MAX = 500
const LAST_LINES = 20
const LINE_CHARS_MAX = 500

// What differs from run to run and from place to place, though the failure is the same.
const NOISE: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]+\b/gi, '<address>'],
  // Below a folder for temporary files, names are random at any depth.
  [
    /(?:file:\/\/)?(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm)\/[^\s'"`:;,)\]}>]*/g,
    '<temp>',
  ],
  // Elsewhere a path says where the workspace happens to be, up to its last name.
  [/(?:file:\/\/)?(?:\/[^\s'"`:;,()[\]{}<>/]+)+\/([^\s'"`:;,()[\]{}<>/]+)/g, '$1'],
  [/\b(localhost|\d{1,3}(?:\.\d{1,3}){3}):\d+/g, '$1:<port>'],
  [/(\.[a-z]{1,5}):\d+(?::\d+)?\b/gi, '$1:<line>'],
  [/\bline \d+/g, 'line <line>'],
  [/\b(pid|process|goroutine|thread|seed|worker)([ =:#]+)\d+/gi, '$1$2<number>'],
  [/(\bthread '[^']*') \(\d+\)/g, '$1 (<number>)'],
  [/\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?)\b/g, '<duration>'],
  [/\bduration_ms:? [\d.]+/g, '<duration>'],
  // How many others there are, and where among them it stands.
  [/\b\d+ (pass|passed|passing|total|tests?|runs?|examples?|assertions?|files?)\b/g, '<number> $1'],
  [/\b\d+ (skipped|skips|pending|ignored|todo|measured|filtered|steps?)\b/g, '<number> $1'],
  [/\b(passed|total|skipped|tests run|tests|assertions|succeeded): +\d+/gi, '$1: <number>'],
  [/\(\d+\)$/, '(<number>)'],
  [/\bnot ok \d+/, 'not ok <number>'],
  // A line of the source, as it is quoted.
  [/^(>? ?)\d+ ?\|/, '$1<line>|'],
]

/** A hash that is the same whenever the same tests fail with the same messages. */
export function fingerprintOf(failures: readonly Failure[]): string {
  const parts = failures.map(({ facts, failing, text }) => ({
    facts,
    failing: [...new Set(failing.map(withoutNoise))].sort(),
    complaints: complaintsOf(text),
  }))
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function complaintsOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().slice(0, LINE_CHARS_MAX))
  const complaints = lines.filter((line) => COMPLAINT.test(line)).slice(-COMPLAINTS_MAX)
  const chosen = complaints.length > 0 ? complaints : lines.filter(Boolean).slice(-LAST_LINES)
  return [...new Set(chosen.map(withoutNoise))].sort()
}

function withoutNoise(line: string): string {
  return NOISE.reduce((text, [noise, word]) => text.replace(noise, word), line)
}
