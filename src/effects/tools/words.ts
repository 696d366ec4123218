import { z } from 'zod'

/** Words of a model, taken as they are; those that say nothing are refused. */
export function words(charsMax: number) {
  return z
    .string()
    .min(1)
    .max(charsMax)
    .refine((text) => text.trim() !== '', 'this says nothing')
}
