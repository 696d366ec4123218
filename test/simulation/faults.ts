import type { Random } from '../drill/random.ts'

/** Every class of fault that a simulation injects, with its chance at each opportunity. */
export const FAULTS = {
  crash_before_commit: 0.012,
  crash_after_commit: 0.012,
  crash_after_effect: 0.03,
  crash_before_outcome_recorded: 0.03,
  crash_in_recovery: 0.15,
  journal_busy: 0.03,
  journal_read_busy: 0.01,
  journal_full: 0.02,
  commit_in_doubt: 0.01,
  delivery_doubled: 0.1,
  delivery_repeated: 0.2,
  outcome_repeated: 0.05,
  outcome_delayed: 0.15,
  outcome_lost: 0.05,
  effect_rate_limited: 0.05,
  effect_rate_limited_for_hours: 0.01,
  effect_server_error: 0.05,
  effect_timed_out: 0.02,
  effect_deaf: 0.01,
  recognition_failed: 0.1,
  effect_stream_cut: 0.04,
  effect_garbage: 0.03,
  effect_rejected: 0.02,
  service_outage: 0.006,
  clock_forward: 0.006,
  clock_back: 0.006,
  event_poisoned: 0.02,
  run_paused: 0.01,
  run_stopped: 0.01,
} as const

export type Fault = keyof typeof FAULTS

/** Decides when a fault strikes, and counts them. */
export class FaultPlan {
  readonly hits: Record<Fault, number>
  /** Switched off at the end, so that everything can come to rest. */
  active = true
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
    this.hits = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as never
  }

  strikes(fault: Fault): boolean {
    if (!this.active || !this.#random.chance(FAULTS[fault])) return false
    this.hits[fault] += 1
    return true
  }
}
