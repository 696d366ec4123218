import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StateFolderError } from '../../journal/state-folder-error.ts'
import { prepareStateFolder } from '../state-folder.ts'
import { type Control, connectControl } from './control.ts'

const START_MS_MAX = 60_000
const POLL_MS = 100

/** The engine of a state folder; started when there is none, and left running. */
export async function reachEngine(folder: string, stateFolder: string): Promise<Control> {
  const running = await connectControl(stateFolder)
  if (running !== undefined) return running
  await prepareStateFolder(stateFolder)
  const logs = join(stateFolder, 'logs')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const path = join(logs, 'engine.log')
  const log = openSync(path, 'w', 0o600)
  const program = process.argv[1] as string
  const args = [...process.execArgv, program, 'engine', '--state', stateFolder]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', log, log],
  })
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  child.unref()
  const untilMs = Date.now() + START_MS_MAX
  while (Date.now() < untilMs && !ended) {
    const control = await connectControl(stateFolder)
    if (control !== undefined) return control
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const said = (await readFile(path, 'utf8').catch(() => '')).trim()
  const what = said.replace(/^slipway: /, '') || `nothing was heard from it; see ${path}`
  throw new StateFolderError(ended ? what : `the engine does not start: ${what}`)
}
