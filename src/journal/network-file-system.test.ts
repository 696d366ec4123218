import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { type Place, refuseNetworkFileSystem } from './network-file-system.ts'

const FUSE = 0x65735546

const MOUNTS = `22 1 254:0 / / rw,relatime - ext4 /dev/root rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
90 22 0:51 / /mnt/far\\040away rw,nosuid shared:7 master:1 - fuse.sshfs me@host:/srv rw,user_id=0
91 22 0:300 / /mnt/bucket rw - fuse.rclone remote:bucket rw
92 22 0:53 / /var/lib/containers/merged rw - fuse.fuse-overlayfs fuse-overlayfs rw
93 22 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw
94 22 0:54 / /mnt/volume rw - fuse.glusterfs host:/volume rw
95 22 0:55 / /mnt/own rw - fuse.somebodys-own own rw
`

const at = (place: Partial<Place>) => () => ({ type: FUSE, device: 0, mounts: MOUNTS, ...place })
const refuse = (place: Partial<Place>) => () => refuseNetworkFileSystem('/state', at(place))

describe.runIf(process.platform === 'linux')('a state folder', () => {
  // https://man7.org/linux/man-pages/man2/statfs.2.html, and coreutils for what is not there.
  test.each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xff534d42, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x01021997, '9P'],
    [0x00c36400, 'Ceph'],
    [0x5346414f, 'AFS'],
    [0x6b414653, 'AFS'],
    [0x0bd00bd0, 'Lustre'],
    [0x7461636f, 'OCFS2'],
    [0x01161970, 'GFS2'],
    [0x19830326, 'BeeGFS'],
  ])('on a network is refused by its number: %i', (type, name) => {
    expect(refuse({ type })).toThrow(`/state is on a network file system (${name}), where a crash`)
  })

  test.each([
    [51, 'sshfs'],
    // 0:300, as the system writes it: minor numbers above 255 go on at bit 20.
    [0x10002c, 'rclone'],
    [54, 'glusterfs'],
  ])('of a program that fetches it from a network is refused: device %i', (device, name) => {
    expect(refuse({ device })).toThrow(`is on a network file system (${name})`)
  })

  test.each([
    ['fuse-overlayfs', 53],
    ['ntfs-3g, which is a fuseblk', 8 * 256 + 17],
    ['nobody knows which', 55],
    ['that is not in the table', 99],
  ])('of another program is taken: %s', (_, device) => {
    expect(refuse({ device })).not.toThrow()
  })

  test.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlayfs', 0x794c7630],
    ['zfs', 0x2fc12fc1],
    ['sockfs', 0x534f434b],
  ])('on this machine is taken: %s', (_, type) => {
    expect(refuse({ type })).not.toThrow()
  })

  test('is looked at as it is', () => {
    expect(statfsSync(tmpdir()).type, 'the tests run on a local disk').not.toBe(0x6969)
    expect(() => refuseNetworkFileSystem(tmpdir())).not.toThrow()
  })
})
