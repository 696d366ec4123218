/**
 * Tells at each place of a text how many characters right before it are a beginning of a value: the
 * longest, but not all of it. Walks once, whatever both are: who wrote them may have made every
 * place look like a beginning.
 */
export function walkBeginnings(
  text: string,
  value: string,
  tell: (chars: number, end: number) => void,
): void {
  const shorter = shorterOf(value)
  let chars = 0
  for (let at = 0; at < text.length; at += 1) {
    while (chars > 0 && text[at] !== value[chars]) chars = shorter[chars] as number
    if (text[at] === value[chars]) chars += 1
    if (chars === value.length) chars = shorter[chars] as number
    if (chars > 0) tell(chars, at + 1)
  }
}

/** For each beginning of a value, by its length: the longest one that it ends with itself. */
function shorterOf(value: string): Uint32Array {
  const shorter = new Uint32Array(value.length + 1)
  let chars = 0
  for (let at = 1; at < value.length; at += 1) {
    while (chars > 0 && value[at] !== value[chars]) chars = shorter[chars] as number
    if (value[at] === value[chars]) chars += 1
    shorter[at + 1] = chars
  }
  return shorter
}

/** A text from its last character to its first, so that its ends are beginnings. */
export function reversed(text: string): string {
  return text.split('').reverse().join('')
}
