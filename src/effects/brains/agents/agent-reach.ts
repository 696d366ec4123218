const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** What an agent may reach of the network. */
export interface Reach {
  readonly hosts: readonly string[]
  /** Ports of this machine itself, where a model may be served too. */
  readonly ports: readonly number[]
}

/** What some addresses need, besides some hosts. Throws on what is no address. */
export function reachOf(addresses: readonly string[], hosts: readonly string[]): Reach {
  const urls = addresses.map(readAddress)
  const isHere = ({ hostname }: URL) => LOOPBACK.includes(hostname)
  const far = urls.filter((url) => !isHere(url)).map(({ host }) => host)
  return {
    hosts: [...new Set([...hosts, ...far])],
    ports: [...new Set(urls.filter(isHere).map(portOf))],
  }
}

function readAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw new Error('an address of the agent is not one of http or https')
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
