import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProcesses } from '../../../src/effects/process/processes.ts'
import { openContainer } from '../../../src/effects/sandbox/container.ts'
import type { Isolation } from '../../../src/effects/sandbox/sandbox.ts'
import { describeIsolation, plantSecrets } from '../conformance.ts'
import { describeHosts } from '../promises/hosts.ts'
import { describeMounts } from '../promises/mounts.ts'
import { inSandbox, makeFolder, type Subject } from '../subject.ts'
import { buildImage, type ImageStore } from './image.ts'

const uid = process.getuid?.() ?? 0
const stateFolder = makeFolder(uid)
const home = makeFolder(uid)
const processes = openProcesses(stateFolder)
const environment = { ...process.env }
let store: ImageStore
let isolation: Isolation

const podman = (...args: string[]) =>
  execFileSync('podman', [...store.engineArguments, ...args], { encoding: 'utf8' })

const settings = () => ({
  stateFolder,
  engine: 'podman' as const,
  image: store.image,
  engineArguments: store.engineArguments,
  // Here root may not raise limits, and runc would set its own.
  runArguments: ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096'],
})

beforeAll(async () => {
  store = buildImage()
  plantSecrets(home, process.env)
  isolation = await openContainer(processes, settings())
})

afterAll(async () => {
  await processes.close()
  process.env = environment
  store.remove()
  for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
})

describe('a container', () => {
  const subject: Subject = { level: 'container', uid, stateFolder, isolation: () => isolation }
  describeIsolation(subject, home)
  describeHosts(subject)
  describeMounts('a mount', async () => subject)

  test('leaves nothing of its own outside when it is closed', () => {
    expect(existsSync('/oom')).toBe(false)
    expect(podman('ps', '--all', '--quiet')).toBe('')
  })

  test('that a killed orchestrator left is removed by the next one, by any link', async () => {
    const link = `${stateFolder}-link`
    symlinkSync(stateFolder, link)
    await inSandbox(subject, {}, async () => {
      expect(podman('ps', '--quiet', '--filter', 'label=slipway.state')).not.toBe('')
      await openContainer(processes, { ...settings(), stateFolder: link })
      rmSync(link)
      expect(podman('ps', '--all', '--quiet')).toBe('')
    })
  })

  test('of an image that does not exist is refused with the reason', async () => {
    const missing = { ...settings(), image: 'localhost/no-such:1', runArguments: ['--pull=never'] }
    await expect(openContainer(processes, missing)).rejects.toThrow('localhost/no-such')
  })
})
