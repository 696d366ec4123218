import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openProcesses } from '../process/processes.ts'
import { chooseIsolation } from './choose-isolation.ts'

const stateFolder = mkdtempSync(join(tmpdir(), 'slipway-choice-'))
const processes = openProcesses(stateFolder)

afterAll(async () => {
  await processes.close()
  rmSync(stateFolder, { recursive: true })
})

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
})
