/** A group of tests that has the same needs. Each one is a vitest project of that name. */
export interface Suite {
  readonly name: string
  readonly include: readonly string[]
  /** Run on every supported Node version in CI, not only on the one at hand. */
  readonly onEveryNode?: true
  /** Runs after the others, one file at a time: it builds what they use. */
  readonly isAlone?: true
  /** Its files are read into one process after the other: there are many, and they leave nothing. */
  readonly isShared?: true
  /** Its scratch is on a disk, also where that of others is in memory. */
  readonly isAboutDisks?: true
  /** What only root may do here. */
  readonly needsRoot?: string
  /** System commands, by the Debian package that brings each. */
  readonly needs?: Readonly<Record<string, string>>
  /** Folders with packages of their own, which are installed first. */
  readonly packages?: readonly string[]
  /** The oldest Node for what it starts; where ours is older, one of test/nodes is used. */
  readonly nodeMin?: number
}

export const SUITES: readonly Suite[] = [
  {
    name: 'unit',
    include: ['{src,scripts,bench}/**/*.test.ts'],
    onEveryNode: true,
    isShared: true,
  },
  { name: 'documents', include: ['test/documents/*.test.ts'], onEveryNode: true },
  { name: 'cli', include: ['test/cli/*.test.ts'], needs: { git: 'git' }, onEveryNode: true },
  {
    name: 'conformance',
    include: ['test/conformance/*.test.ts'],
    onEveryNode: true,
    isAboutDisks: true,
  },
  { name: 'simulation', include: ['test/simulation/*.test.ts'] },
  {
    name: 'damage',
    include: ['test/disk/{damage,find-stored,folder,log,missing}.test.ts'],
    isAboutDisks: true,
  },
  {
    name: 'disk',
    include: ['test/disk/full.test.ts'],
    needs: { git: 'git' },
    needsRoot: 'to mount a small disk',
    isAboutDisks: true,
  },
  { name: 'kill', include: ['test/kill/*.test.ts'], isAboutDisks: true },
  { name: 'tools', include: ['test/tools/*.test.ts'], needs: { rg: 'ripgrep' } },
  { name: 'mcp', include: ['test/mcp/*.test.ts'] },
  { name: 'workspaces', include: ['test/workspaces/*.test.ts'] },
  { name: 'merge', include: ['test/merge/*.test.ts'] },
  {
    name: 'canary',
    include: ['test/canary/*.test.ts'],
    needs: { git: 'git', script: 'bsdutils' },
  },
  { name: 'fuzz', include: ['test/fuzz/*.test.ts'], needs: { git: 'git' } },
  {
    name: 'forge',
    include: ['test/forge/*.test.ts'],
    needs: { git: 'git' },
    packages: ['test/forge'],
    nodeMin: 24,
  },
  {
    name: 'github',
    include: ['test/forge/engine/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
    packages: ['test/forge'],
    nodeMin: 24,
  },
  {
    name: 'sandbox',
    include: ['test/sandbox/*.test.ts'],
    needs: { bwrap: 'bubblewrap', python3: 'python3' },
  },
  {
    name: 'container',
    include: ['test/sandbox/container/*.test.ts'],
    needs: { podman: 'podman', runc: 'runc', busybox: 'busybox-static' },
    needsRoot: 'to keep images in a store of its own',
  },
  {
    name: 'testing',
    include: ['test/testing/*.test.ts'],
    needs: { bwrap: 'bubblewrap', make: 'make', python3: 'python3' },
  },
  { name: 'brains', include: ['test/{brains,providers}/*.test.ts'], isShared: true },
  {
    name: 'thinking',
    include: ['test/thinking/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
  },
  {
    name: 'agents',
    include: ['test/agents/*.test.ts'],
    needs: { bwrap: 'bubblewrap' },
    packages: ['test/agents'],
    nodeMin: 22,
  },
  {
    name: 'team',
    include: ['test/team/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
  },
  {
    name: 'run',
    include: ['test/run/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
  },
  {
    name: 'task',
    include: ['test/task/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
  },
  {
    name: 'task-agents',
    include: ['test/task/agents/*.test.ts'],
    needs: { bwrap: 'bubblewrap', git: 'git' },
    packages: ['test/agents'],
    nodeMin: 22,
  },
  { name: 'checks', include: ['test/checks/*.test.ts'] },
  {
    name: 'package',
    include: ['test/package/*.test.ts'],
    needs: { bwrap: 'bubblewrap', rg: 'ripgrep' },
    isAlone: true,
    isAboutDisks: true,
  },
  {
    name: 'bench',
    include: ['test/bench/*.test.ts'],
    needs: { bwrap: 'bubblewrap' },
    isAboutDisks: true,
  },
  {
    name: 'terminal',
    include: ['test/terminal/*.test.ts'],
    needs: { tmux: 'tmux', bwrap: 'bubblewrap', git: 'git', rg: 'ripgrep' },
  },
]
