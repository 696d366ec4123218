import { z } from 'zod'

// A line may end as it does on Windows; a carriage return elsewhere hides what stands before it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused here
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/

/** Words of a model, taken as they are; those that say nothing or hide something are refused. */
export function words(charsMax: number) {
  return z
    .string()
    .min(1)
    .max(charsMax)
    .refine((text) => text.trim() !== '', 'this says nothing')
    .refine(
      (text) => !CONTROLS.test(text),
      'this has control characters other than tab and newline',
    )
}
