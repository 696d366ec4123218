import { isObject } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'
import { runsNothing } from './script.ts'

/** The script `test` of Composer, or else Pest or PHPUnit. */
export const php: Ecosystem = async (files) => {
  const manifest = await files.readJson('composer.json')
  const scripts = manifest?.scripts
  const script = isObject(scripts) ? scripts.test : undefined
  const lines = [script].flat().filter((line) => typeof line === 'string')
  if (lines.length > 0 && !runsNothing(lines.join('\n'))) {
    const reason = 'composer.json has a script "test"'
    return [{ argv: ['composer', 'test'], reason, script: lines.join('\n') }]
  }
  if (lines.length > 0) {
    files.note('composer.json', 'no_test_script', 'it has a script "test" that runs nothing')
  }
  const needs = manifest?.['require-dev']
  if (isObject(needs) && 'pestphp/pest' in needs) {
    return [{ argv: ['vendor/bin/pest'], reason: 'composer.json requires pestphp/pest' }]
  }
  const config = await files.firstOf('phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml')
  if (config !== undefined) {
    return [{ argv: ['vendor/bin/phpunit'], reason: `there is a ${config}` }]
  }
  return isObject(needs) && 'phpunit/phpunit' in needs
    ? [{ argv: ['vendor/bin/phpunit'], reason: 'composer.json requires phpunit/phpunit' }]
    : []
}
