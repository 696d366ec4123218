import { expect, test } from 'vitest'
import { reachOf } from './agent-reach.ts'

test('addresses on this machine are ports, all others hosts', () => {
  const addresses = [
    'http://127.0.0.1:11434/v1',
    'http://localhost:1234',
    'http://[::1]:11434',
    'https://gateway.example.org/anthropic',
    'https://gateway.example.org:8443/anthropic',
    'https://localhost/v1',
  ]
  expect(reachOf(addresses, ['api.example.com'])).toEqual({
    hosts: ['api.example.com', 'gateway.example.org', 'gateway.example.org:8443'],
    ports: [11_434, 1_234, 443],
  })
})

test.each(['file:///etc/passwd', 'unix:/run/x', 'no address', ''])('%j is refused', (address) => {
  expect(() => reachOf([address], [])).toThrow('address')
})
