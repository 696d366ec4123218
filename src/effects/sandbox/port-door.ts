import { connect, createServer, type Socket } from 'node:net'

const CONNECTIONS_MAX = 128

/** A socket whose connections lead to one port of this machine's loopback, and nowhere else. */
export interface PortDoor {
  close(): Promise<void>
}

/** Opens a door on a unix socket. Rejects when the socket cannot be made. */
export async function openPortDoor(socketPath: string, port: number): Promise<PortDoor> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      track(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroySoon())
    }
  })
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(socketPath, done)
  })
  return {
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((done) => server.close(() => done()))
    },
  }
}
