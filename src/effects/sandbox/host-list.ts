import { BlockList, isIP } from 'node:net'

/** Which hosts may be reached. */
export interface HostList {
  /** `exactly`: also when its address is one of this machine or of a private network. */
  find(name: string, port: number): 'exactly' | 'below' | undefined
}

/** Those of HTTPS and HTTP: every other port has to be named. */
const DEFAULT_PORTS: readonly number[] = [443, 80]
const PORT_MAX = 65_535

interface Entry {
  readonly name: string
  /** Whether all names below it are meant, and not itself. */
  readonly isBelow: boolean
  readonly ports: readonly number[]
}

/**
 * Reads names such as `registry.example.org` and `*.example.org`, with a port where it is another
 * than those of HTTPS and HTTP: `registry.example.org:8443`. Throws on anything else.
 */
export function parseHosts(hosts: readonly string[]): HostList {
  const entries = hosts.map(parseHost)
  return {
    find(host, port) {
      const name = normalise(host)
      const open = entries.filter(({ ports }) => ports.includes(port))
      if (open.some((entry) => !entry.isBelow && entry.name === name)) return 'exactly'
      // An address in the place of a name is below no name.
      if (!isName(name)) return undefined
      const isListed = open.some((entry) => entry.isBelow && name.endsWith(`.${entry.name}`))
      return isListed ? 'below' : undefined
    },
  }
}

function parseHost(host: string): Entry {
  // An address of IPv6 has colons of its own, and needs brackets before a port.
  const [, bracketed, plain, digits] = /^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(host) ?? []
  const whole = normalise(bracketed ?? plain ?? host)
  const isBelow = whole.startsWith('*.')
  const name = isBelow ? whole.slice(2) : whole
  const port = digits === undefined ? undefined : Number(digits)
  const isPort = port === undefined || (port > 0 && port <= PORT_MAX)
  const isHost = bracketed === undefined ? isName(name) || isIP(name) !== 0 : isIP(name) === 6
  if (!isHost || !isPort) throw new Error(`${host} is not the name of a host`)
  return { name, isBelow, ports: port === undefined ? DEFAULT_PORTS : [port] }
}

function normalise(host: string): string {
  const name = host.toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** Labels of letters, digits and inner hyphens; the last one does not look like a number. */
function isName(text: string): boolean {
  const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
  return text.length <= 253 && new RegExp(`^(?:${label}\\.)*(?!\\d+$|0x)${label}$`).test(text)
}

const NOT_PUBLIC = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv4')
}

const PUBLIC_6 = new BlockList()
PUBLIC_6.addSubnet('2000::', 3, 'ipv6')

/** Ways to write an IPv4 address as one of IPv6, and documentation. */
const NOT_PUBLIC_6 = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const) {
  NOT_PUBLIC_6.addSubnet(network, prefix, 'ipv6')
}

/** Whether an address is one of the internet, and not of this machine or a private network. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, 'ipv4')
  return PUBLIC_6.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6')
}
