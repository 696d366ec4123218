/** The setting of a network that says from which port on everybody may listen. */
export const FREE_PORTS = 'net.ipv4.ip_unprivileged_port_start'

/** Lower ones are root's alone, in a network of one's own too, until that is set. */
const FREE_PORT_MIN = 1_024

/** The lowest of some ports, if that one is not everybody's. */
export function lowPort(ports: readonly number[]): number | undefined {
  const lowest = Math.min(...ports)
  return lowest < FREE_PORT_MIN ? lowest : undefined
}
