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

// The runners whose reports `readTestReport` reads, by the words that start them.
const PROGRAMS =
  'vitest|jest|mocha|ava|tap|tape|cypress|pytest|py\\.test|rspec|phpunit|pest|prove|ctest'
const ARGUMENTS = '\\s[^;&|]{0,300}'
const CALLS = [
  `(?:${PROGRAMS})(?![\\w.-])`,
  `(?:node|tsx)${ARGUMENTS}--test(?![\\w-])`,
  'unittest\\b',
  '(?:go|cargo|deno|bun|mix|dotnet|rake|rails|playwright|react-scripts) test\\b',
  `(?:mvn|mvnw|gradle|gradlew)${ARGUMENTS}\\b(?:test|verify|check)\\b`,
]
const RUNNERS = new RegExp(`(?:^|[\\s/;&|('"])(?:${CALLS.join('|')})`)

/** Whether what a script starts is known to report its tests. */
export function namesRunner(script: string): boolean {
  return RUNNERS.test(script)
}
