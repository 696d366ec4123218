import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** What was started while something was recorded. */
export interface Recording {
  /** The arguments of each git that we started. */
  readonly commands: readonly (readonly string[])[]
  /** The arguments of each process that those started, and those again, as git itself tells. */
  readonly children: readonly (readonly string[])[]
  /** The arguments of each ssh. */
  readonly ssh: readonly (readonly string[])[]
}

/** Programs that write down how they were called. Real git does its work afterwards. */
export interface Recorder {
  /** To be searched first. */
  readonly folder: string
  /** For the environment of git, so that it tells what it starts. */
  readonly env: Readonly<Record<string, string>>
  /** What came since the last time. */
  take(): Recording
}

export function openRecorder(scratch: string): Recorder {
  const folder = join(scratch, 'recorded')
  mkdirSync(folder)
  const [commands, ssh, trace] = ['commands', 'ssh', 'trace'].map((name) =>
    join(scratch, name),
  ) as [string, string, string]
  // Arguments hold no NUL, so that nothing can be mistaken for the end of one.
  const record = (log: string) => `printf '%s\\0' "$#" "$@" >> '${log}'`
  install(join(folder, 'git'), `${record(commands)}\nexec '${findGit()}' "$@"`)
  install(join(folder, 'ssh'), `${record(ssh)}\nexit 255`)
  return {
    folder,
    env: { GIT_TRACE2_EVENT: trace },
    take() {
      const recording = {
        commands: readCalls(takeText(commands)),
        children: readTrace(takeText(trace)),
        ssh: readCalls(takeText(ssh)),
      }
      return recording
    },
  }
}

function install(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

function findGit(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
  const found = folders.map((each) => join(each, 'git')).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error('there is no git')
}

function takeText(path: string): string {
  if (!existsSync(path)) return ''
  const text = readFileSync(path, 'utf8')
  rmSync(path)
  return text
}

function readCalls(text: string): string[][] {
  const fields = text.split('\0').slice(0, -1)
  const calls: string[][] = []
  for (let at = 0; at < fields.length; ) {
    const count = Number(fields[at])
    calls.push(fields.slice(at + 1, at + 1 + count))
    at += 1 + count
  }
  return calls
}

function readTrace(text: string): string[][] {
  const events = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return events.flatMap(({ event, argv }) => (event === 'child_start' ? [argv] : []))
}
