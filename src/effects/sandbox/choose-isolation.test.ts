import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openProcesses, type Processes } from '../process/processes.ts'
import { chooseIsolation } from './choose-isolation.ts'

const stateFolder = mkdtempSync(join(tmpdir(), 'slipway-choice-'))
const processes = openProcesses(stateFolder)

afterAll(async () => {
  await processes.close()
  rmSync(stateFolder, { recursive: true })
})

/** The same machine, but for what `bwrap` does there; without a script there is none. */
function machineWith(script: string | undefined): Processes {
  const folder = mkdtempSync(join(stateFolder, 'bin-'))
  if (script !== undefined) writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 })
  const run: Processes['run'] = (command, by) => {
    if (command.argv[0] !== 'bwrap') return processes.run(command, by)
    const PATH = script === undefined ? folder : `${folder}:${command.env.PATH}`
    return processes.run({ ...command, env: { ...command.env, PATH } }, by)
  }
  return { ...processes, run }
}

const HELP = `if [ "$1" = --help ]; then echo --perms; exit; fi`
const FAILS = 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1'

describe('the choice of isolation', () => {
  test('is no isolation only where nothing else works, or on demand, and says so plainly', async () => {
    const isolation = await chooseIsolation(processes, { stateFolder, level: 'none' })
    expect(isolation).toMatchObject({ level: 'none', passedOver: [] })
    expect(isolation.description).toContain('Nothing is confined')
  })

  test('is never weaker than what was asked for', async () => {
    const asked = chooseIsolation(processes, { stateFolder, level: 'container' })
    await expect(asked).rejects.toThrow('no image is configured')
    const missing = {
      image: 'x',
      engine: 'docker',
      engineArguments: ['--host', 'unix:///no'],
    } as const
    const refused = { stateFolder, level: 'container', container: missing } as const
    await expect(chooseIsolation(processes, refused)).rejects.toThrow('container: docker')
  })

  test('goes on to the next one without demand, and tells why', async () => {
    const container = {
      image: 'x',
      engine: 'docker',
      engineArguments: ['--host', 'unix:///no'],
    } as const
    const isolation = await chooseIsolation(processes, { stateFolder, container })
    expect(isolation.passedOver[0]).toMatchObject({ level: 'container' })
    expect(isolation.passedOver[0]?.reason).toContain('docker')
    expect(['bubblewrap', 'none']).toContain(isolation.level)
  })

  test('is no isolation unasked where there is no program for any, and says why', async () => {
    const isolation = await chooseIsolation(machineWith(undefined), { stateFolder })
    expect(isolation).toMatchObject({ level: 'none', shortfall: expect.any(String) })
    expect(isolation.shortfall).toBe('bubblewrap: bubblewrap is not installed')
  })

  test('is refused where a program is there and fails, unless no model writes commands', async () => {
    const machine = machineWith(`#!/bin/sh\n${HELP}\n${FAILS}\n`)
    await expect(chooseIsolation(machine, { stateFolder })).rejects.toMatchObject({
      name: 'IsolationError',
      message: expect.stringMatching(
        /Permission denied.*isolation\.image.*isolation\.level to none/,
      ),
    })
    const isolation = await chooseIsolation(machine, { stateFolder, isHarmless: true })
    expect(isolation).toMatchObject({ level: 'none', shortfall: expect.stringContaining('denied') })
  }, 20_000)
})
