import { countTests, type ReportReader } from './report.ts'

/**
 * What only starts test runners, and says that there was nothing to start. A folder called `test`
 * makes `make test` say so, and exit with 0, in a Makefile that forgot to call it phony.
 */
export const noTarget: ReportReader = {
  runner: 'none',
  sign: /^g?make: (?:Nothing to be done for '|'[^'\n]*' is up to date\.|\*\*\* No rule to make target '(?:test|check)'\.)|^(?:npm (?:error|ERR!) |error: )?Missing script: "?test"?$|^Error: no test specified$|ERR_PNPM_NO_SCRIPT|^error Command "test" not found\.$|Couldn't find a script named "test"|^None of the selected packages has a "test" script$|^ *Tasks: +0 successful, 0 total$|^\s*(?:NX|>)? *No tasks were run$/m,
  read: () => ({ counts: countTests({ passed: 0, failed: 0, skipped: 0 }), failing: [] }),
}
