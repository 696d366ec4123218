/** Inside a text of JSON its quotes would be escaped. */
const NO_ERROR = /(?<!\\)"error"\s*:\s*(?:null|false|"")(?=\s*[,}])/g

/**
 * Whole lines of a server that only speaks like OpenAI. Some say in every chunk that there was no
 * error, which the library takes for one.
 */
export function mendCompatible(lines: string): string {
  return lines.replace(NO_ERROR, '"no_error":null')
}
