import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { END_ALL, type Subject, sharedPlace, succeeding } from '../subject.ts'

/** What only a level that confines promises of privileges, processes and the network. */
export function describePowers(subject: Subject): void {
  describe('a command', () => {
    const { sh } = sharedPlace(subject)

    test('has no capability, and can get none', async () => {
      const { stdout } = await sh('grep -E "^(Cap(Prm|Eff|Inh|Amb)|NoNewPrivs)" /proc/self/status')
      const values = stdout.toString().match(/\S+$/gm)
      expect(values).toEqual([...Array(4).fill('0'.repeat(16)), '1'])
      const attempts = [
        'mkdir -p /tmp/m; mount -t tmpfs none /tmp/m',
        'mount --bind /usr /tmp/m',
        'mount -o remount,rw /',
        'chroot / true',
        'unshare -m true',
        'mknod /tmp/disk b 254 0',
        'hostname "$(hostname)"',
        // Opened and closed, so that a sandbox that allows it does no harm to this machine.
        ': >> /proc/sys/kernel/core_pattern',
        ': >> /proc/sys/kernel/modprobe',
        ': >> /proc/sys/vm/swappiness',
        ': >> /proc/sysrq-trigger',
      ]
      expect(await succeeding(sh, attempts)).toEqual([])
    })

    test('neither sees nor reaches processes outside', async () => {
      const outside = spawn('sleep', ['600'])
      try {
        const { stdout } = await sh(`kill -9 ${outside.pid}; ls /proc; ${END_ALL}`)
        expect(outside.exitCode ?? outside.signalCode).toBe(null)
        expect(stdout.toString().match(/^\d+$/gm)?.length ?? 0).toBeLessThan(12)
      } finally {
        outside.kill('SIGKILL')
      }
    })

    test('has no network', async () => {
      const server = createServer((socket) => socket.end('reached')).listen(0, '0.0.0.0')
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as { port: number }
      const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
      const hosts = addresses
        .filter(({ family }) => family === 'IPv4')
        .map(({ address }) => address)
      const reached: string[] = []
      server.on('connection', () => reached.push('a connection'))
      try {
        const attempts = [...hosts, '8.8.8.8'].flatMap((host) => [
          `nc -w 1 ${host} ${port} | grep reached`,
          `node -e 'require("net").connect(${port}, "${host}").on("data", (d) => console.log(String(d))).setTimeout(500, () => process.exit())' | grep reached`,
        ])
        expect(await succeeding(sh, attempts)).toEqual([])
        expect((await sh('cat /proc/net/dev')).stdout.toString().match(/^ *\w+:/gm)).toHaveLength(1)
        expect(reached).toEqual([])
      } finally {
        server.close()
      }
    })
  })
}
