import { readFileSync, statfsSync, statSync } from 'node:fs'
import { StateFolderError } from './state-folder-error.ts'

/**
 * File systems whose files are on another machine, or on a disk that several machines write to, by
 * the magic number that statfs gives. Shared folders of a virtual machine are among them.
 */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1937076805: 'Coda',
  22092: 'NCP',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  537068840: 'OrangeFS',
  2866260714: 'PanFS',
  3203391149: 'SNFS',
  1952539503: 'OCFS2',
  18225520: 'GFS2',
  2020557398: 'vboxsf',
  3133910204: 'vmhgfs',
}

/** One number for all that programs make of files. Which one it is says the table of mounts. */
const FUSE = 0x65735546

/** Programs that fetch their files over a network. Others, such as fuse-overlayfs, have them here. */
const NETWORK_PROGRAMS: ReadonlySet<string> = new Set([
  'blobfuse',
  'blobfuse2',
  'ceph',
  'ceph-fuse',
  'curlftpfs',
  'cvmfs2',
  'davfs',
  'gcsfuse',
  'glusterfs',
  'goofys',
  'grpcfuse',
  'gvfsd-fuse',
  'juicefs',
  'kio-fuse',
  'lizardfs',
  'mfs',
  'moosefs',
  'mount-s3',
  'mountpoint-s3',
  'rclone',
  's3fs',
  'saunafs',
  'seaweedfs',
  'smbnetfs',
  'sshfs',
  'vmhgfs-fuse',
  'xtreemfs',
])

/** What Linux tells about the place of a folder. */
export interface Place {
  /** The magic number of its file system. */
  readonly type: number
  /** The device that it is on. */
  readonly device: number
  /** As in /proc/self/mountinfo. */
  readonly mounts: string
}

/** Refuses a folder on a network file system, where SQLite's locks and syncs cannot be relied on. */
export function refuseNetworkFileSystem(folder: string, look = lookAt): void {
  if (process.platform !== 'linux') return
  const name = nameOf(look(folder))
  if (name === undefined) return
  throw new StateFolderError(
    `${folder} is on a network file system (${name}), where a crash can damage the journal. Choose a local folder with --state.`,
  )
}

function lookAt(folder: string): Place {
  return {
    type: statfsSync(folder).type >>> 0,
    device: statSync(folder).dev,
    get mounts() {
      return readFileSync('/proc/self/mountinfo', 'utf8')
    },
  }
}

function nameOf(place: Place): string | undefined {
  if (place.type !== FUSE) return NETWORK_FILE_SYSTEMS[place.type]
  const program = programOf(place)
  return program !== undefined && NETWORK_PROGRAMS.has(program) ? program : undefined
}

/** The program behind a FUSE mount: `fuse.sshfs` is sshfs. */
function programOf({ device, mounts }: Place): string | undefined {
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00)
  const number = `${(device >>> 8) & 0xfff}:${minor}`
  for (const line of mounts.split('\n')) {
    // https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
    const [mount = '', rest = ''] = line.split(' - ')
    if (mount.split(' ')[2] === number) return rest.split(' ')[0]?.replace(/^fuse\./, '')
  }
  return undefined
}
