import { isObject } from '../workspace-files.ts'
import type { Ecosystem } from './ecosystem.ts'

/** Deno: its task `test`, or else its runner. */
export const deno: Ecosystem = async (files) => {
  const name = await files.firstOf('deno.json', 'deno.jsonc')
  if (name === undefined) return []
  const config = name === 'deno.json' ? await files.readJson(name) : undefined
  const tasks = config?.tasks
  // With comments it is no JSON; a task is then known by its looks.
  const text = name === 'deno.jsonc' ? ((await files.read(name)) ?? '') : ''
  const looksSo = text.includes('"tasks"') && /"test"\s*:/.test(text.slice(text.indexOf('"tasks"')))
  const task = isObject(tasks) ? tasks.test : undefined
  if (!looksSo && task === undefined) {
    return [{ argv: ['deno', 'test'], reason: `there is a ${name}` }]
  }
  const script = typeof task === 'string' ? task : ''
  return [{ argv: ['deno', 'task', 'test'], reason: `${name} has a task "test"`, script }]
}
