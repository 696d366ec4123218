/** Does a fixed amount of work once. */
export type Subject = () => void

const ROUNDS = 7

/**
 * Runs subjects in turn, so that a busy machine slows all of them, and gives each one's median rate
 * in operations per second.
 */
export function medianRates<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  operations: number,
  roundMs: number,
): Record<Name, number> {
  const names = Object.keys(subjects) as Name[]
  const rates = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      rates.get(name)?.push(rateOf(subjects[name], operations, roundMs))
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(rates.get(name) ?? [])])) as Record<
    Name,
    number
  >
}

/** The middle value; of an even number, the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

function rateOf(subject: Subject, operations: number, roundMs: number): number {
  const startedMs = performance.now()
  let elapsedMs = 0
  let count = 0
  while (elapsedMs < roundMs) {
    subject()
    count += operations
    elapsedMs = performance.now() - startedMs
  }
  return (count * 1000) / elapsedMs
}
