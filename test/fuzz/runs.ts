/** How many cases of each kind are tried: enough for every day, or as many as one wants once. */
export const RUNS = Number(process.env.SLIPWAY_FUZZ ?? 100)

/** No case is a matter of luck that cannot be told again. */
export const SEED = Number(process.env.SLIPWAY_FUZZ_SEED ?? Date.now() % 2 ** 31)

/** The long setting takes its time. */
export const TIMEOUT_MS = 3_600_000
