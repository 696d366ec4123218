/** A part of a text, from its start to before its end. */
export type Span = readonly [start: number, end: number]
