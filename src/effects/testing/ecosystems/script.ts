// What prints or ends, and tests nothing.
const IDLE = /^(?:|:|true|false|exit(?: \d+)?|(?:echo|printf)(?: .*)?)$/

/** Whether a script obviously runs no test, such as npm's own `echo "Error: no test specified" …`. */
export function runsNothing(script: string): boolean {
  // A quoted text may hold what separates commands outside of it.
  const unquoted = script.replace(/"[^"$`]*"|'[^']*'/g, 'text')
  // Whatever is put in from elsewhere or goes elsewhere may be a test.
  if (/[$`<>|(){}]/.test(unquoted.replaceAll('||', ''))) return false
  return unquoted.split(/&&|\|\||;|&|\n/).every((command) => IDLE.test(command.trim()))
}
