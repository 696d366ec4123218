import type { TestCommand } from '../test-result.ts'

// What prints or ends, and tests nothing.
const IDLE = /^(?:|exit(?: \d+)?|(?:(?:\/usr)?\/bin\/)?(?::|true|false|echo|printf)(?: .*)?)$/

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
  'vitest|jest|jasmine|karma|mocha|ava|tap|tape|cypress|pytest|py\\.test|rspec|phpunit|pest|prove|ctest'
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
function namesRunner(script: string): boolean {
  return RUNNERS.test(script)
}

/** Whether what a script starts prints a mark for each test, and no summary that could be read. */
function printsDots(script: string): boolean {
  return /--test-reporter[= ]dot\b/.test(script) && !/--test-reporter[= ](?!dot\b)/.test(script)
}

/** What can be said of a command by the text of what it starts. */
export function judgeScript(script: string): Pick<TestCommand, 'reports' | 'idle'> {
  if (runsNothing(script)) return { idle: true }
  if (!namesRunner(script)) return {}
  return { reports: printsDots(script) ? 'dots' : 'summary' }
}
