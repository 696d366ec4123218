/** Scripts of Python that take memory where no process is seen to have it, and say how much. */
export const HIDDEN_MEMORY: Readonly<Record<string, (mib: number) => string>> = {
  'a file without a name': (mib) => `
import os, time
fd = os.memfd_create("x")
for i in range(${mib}):
    os.write(fd, b"x" * 2**20)
time.sleep(2)
print("took it all")`,
  'files without names, in two processes': (mib) => `
import os, time
for half in range(2):
    fd = os.memfd_create("x")
    for i in range(${mib} // 2):
        os.write(fd, b"x" * 2**20)
    if half == 0 and os.fork() != 0:
        break
time.sleep(2)
print("took it all")`,
  'buffers of sockets': (mib) => `
import resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held, total = [], 0
while total < ${mib} * 2**20:
    pair = socket.socketpair()
    held.append(pair)
    for one in pair:
        one.setblocking(False)
        try:
            while True:
                total += one.send(b"x" * 65536)
        except BlockingIOError:
            pass
time.sleep(2)
print("took it all")`,
  'buffers of sockets that were made larger': (mib) => `
import socket, time
held, total = [], 0
while total < ${mib} * 2**20 and len(held) < 400:
    pair = socket.socketpair()
    held.append(pair)
    for one in pair:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
        one.setblocking(False)
        try:
            while True:
                total += one.send(b"x" * 65536)
        except BlockingIOError:
            pass
time.sleep(2)
print("took it all")`,
  'segments that nobody has mapped': (mib) => `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
for i in range(${mib}):
    segment = libc.shmget(0, 2**20, 0o1600)
    if segment < 0:
        raise SystemExit("refused")
    at = libc.shmat(segment, None, 0)
    ctypes.memset(at, 1, 2**20)
    libc.shmdt(at)
print("took it all")`,
}
