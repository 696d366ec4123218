import { describe, expect, test } from 'vitest'
import { isPublic, parseHosts } from './host-list.ts'

describe('a list of hosts', () => {
  const list = parseHosts([
    'registry.Example.org',
    '*.example.net',
    '10.0.0.7',
    'localhost.',
    '::1',
  ])

  test.each([
    ['registry.example.org', 'exactly'],
    ['REGISTRY.EXAMPLE.ORG.', 'exactly'],
    ['10.0.0.7', 'exactly'],
    ['localhost', 'exactly'],
    ['::1', 'exactly'],
    ['a.example.net', 'below'],
    ['a.b.example.net', 'below'],
    ['example.net', undefined],
    ['notexample.net', undefined],
    ['example.net.evil.org', undefined],
    ['x.registry.example.org', undefined],
    ['10.0.0.8', undefined],
    ['10.0.0.7.example.org', undefined],
    ['1.example.net', 'below'],
    ['', undefined],
    ['.example.net', undefined],
    ['a..example.net', undefined],
    ['a b.example.net', undefined],
    ['a@b.example.net', undefined],
    ['a\0.example.net', undefined],
    [`${'a'.repeat(300)}.example.net`, undefined],
    ['*.example.net', undefined],
  ])('finds %s: %s', (name, found) => {
    expect(list.find(name, 443)).toBe(found)
    expect(list.find(name, 80)).toBe(found)
    expect(list.find(name, 22)).toBeUndefined()
  })

  test.each([
    ['a.org', 8443, 'exactly'],
    ['a.org', 443, undefined],
    ['a.org', 80, undefined],
    ['both.org', 443, 'exactly'],
    ['both.org', 5000, 'exactly'],
    ['x.below.org', 8080, 'below'],
    ['x.below.org', 443, undefined],
    ['10.0.0.7', 9000, 'exactly'],
    ['::1', 9000, 'exactly'],
    ['::1', 80, undefined],
    ['fe80::1', 443, 'exactly'],
  ])('finds %s at port %d: %s', (name, port, found) => {
    const hosts = ['a.org:8443', 'both.org', 'both.org:5000', '*.below.org:8080']
    const addresses = ['10.0.0.7:9000', '[::1]:9000', '[fe80::1]']
    expect(parseHosts([...hosts, ...addresses]).find(name, port)).toBe(found)
  })

  test.each([
    '',
    '*',
    '*.',
    'http://a.org',
    'a.org:',
    'a.org:0',
    'a.org:65536',
    'a.org:https',
    'a.org:*',
    'a.org:1:2',
    '[a.org]:443',
    '[10.0.0.7]',
    '::1]:80',
    'a.org/x',
    '*.*.org',
    'a.*.org',
    '0x7f',
    '127.1',
  ])('refuses %s', (host) => {
    expect(() => parseHosts([host])).toThrow('is not the name of a host')
  })
})

describe('an address', () => {
  test.each([
    ...['127.0.0.1', '127.9.9.9', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
    ],
    ...['2002:a00:1::', '2001:db8::1', '::ffff:8.8.8.8'],
  ])('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )
})
