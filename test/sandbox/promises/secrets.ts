import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inSandbox, type Subject, sharedPlace, succeeding } from '../subject.ts'

/** Twenty secrets by the names that keys have. */
export function canaries(): Record<string, string> {
  const names = [
    ...[
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GOOGLE_API_KEY',
      'GEMINI_API_KEY',
      'MISTRAL_API_KEY',
    ],
    ...['GITHUB_TOKEN', 'GH_TOKEN', 'GITLAB_TOKEN', 'NPM_TOKEN', 'AWS_SECRET_ACCESS_KEY'],
    ...['AWS_SESSION_TOKEN', 'AZURE_CLIENT_SECRET', 'DATABASE_URL', 'PGPASSWORD', 'SSH_AUTH_SOCK'],
    ...['SLIPWAY_TOKEN', 'SENTRY_DSN', 'HF_TOKEN', 'DOCKER_AUTH_CONFIG', 'SOME_PASSWORD'],
  ]
  return Object.fromEntries(names.map((name, i) => [name, `canary-${i}-${name.toLowerCase()}`]))
}

/** The one that the orchestrator has from its environment. */
export const TIME_ZONE = 'Asia/Kolkata'

/** What every level promises of the environment. */
export function describeEnvironment(subject: Subject): void {
  test('a command has an environment of its own', () =>
    inSandbox(subject, {}, async ({ sh }) => {
      const { stdout } = await sh('env')
      expect(stdout.toString()).not.toContain('canary')
      const names = stdout.toString().match(/^\w+(?==)/gm) ?? []
      expect(names.length).toBeLessThan(20)
      expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'USER']))
    }))

  test('a command goes by the clock of the orchestrator', () =>
    inSandbox(subject, {}, async ({ sh }) => {
      expect((await sh('echo "$TZ"')).stdout.toString()).toBe(`${TIME_ZONE}\n`)
    }))
}

/** What only a level that confines promises of secrets. */
export function describeSecrets(subject: Subject, home: string): void {
  describe('a secret', () => {
    const { sh } = sharedPlace(subject)

    test('of the orchestrator is found in no process and no home', async () => {
      const places = `${home} /root /home /run /var /etc /tmp /mnt /srv ${subject.stateFolder}`
      const hunt = `cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ 2>/dev/null
        find ${places} -type f -exec cat {} + 2>/dev/null`
      const { output } = await sh(hunt, { outputBytesMax: 50_000_000 })
      expect(output.length).toBeGreaterThan(50)
      expect(output.includes('canary')).toBe(false)
      expect((await sh(`ls -A ${home}`)).stdout.toString()).toBe('')
    })

    test('of root is not read', async () => {
      const paths = [
        '/etc/shadow',
        '/etc/gshadow',
        join(userInfo().homedir, '.bashrc'),
        '/proc/kcore',
        '/proc/kmsg',
      ]
      const reads = paths.map((path) => `head -c 1 ${path} | grep -q .`)
      expect(await succeeding(sh, reads)).toEqual([])
    })
  })
}
