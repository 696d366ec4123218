import { reachEngine } from './engine/reach.ts'
import { EXIT_CODE } from './exit-code.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { chooseRun } from './view/open-source.ts'

export interface SteerOptions extends StateOptions {
  readonly json?: true
}

const SAID = {
  pause: 'Nothing new is begun; what is under way ends.',
  resume: 'The run goes on.',
  stop: 'Everything that was under way is ended. slipway resume goes on with it.',
} as const

/** `slipway pause|resume|stop [run]`. All of it can be undone. */
export async function steer(
  how: keyof typeof SAID,
  name: string | undefined,
  options: SteerOptions,
): Promise<number> {
  const { run, close } = await chooseRun(name, options)
  await close()
  const { root, stateFolder } = findPlace(options)
  const control = await reachEngine(root, stateFolder)
  await control[how](run)
  if (options.json) process.stdout.write(`${JSON.stringify({ run, command: how })}\n`)
  else process.stderr.write(`${run}: ${SAID[how]}\n`)
  return EXIT_CODE.done
}
