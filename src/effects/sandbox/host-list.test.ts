import { describe, expect, test } from 'vitest'
import { isPublic, parseHosts } from './host-list.ts'

describe('a list of hosts', () => {
  const list = parseHosts(['registry.Example.org', '*.example.net', '10.0.0.7', 'localhost.'])

  test.each([
    ['registry.example.org', 'exactly'],
    ['REGISTRY.EXAMPLE.ORG.', 'exactly'],
    ['10.0.0.7', 'exactly'],
    ['localhost', 'exactly'],
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
    expect(list.find(name)).toBe(found)
  })

  test.each([
    '',
    '*',
    '*.',
    'http://a.org',
    'a.org:443',
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
