/** A story that could be handed out. */
export interface Candidate {
  readonly story: string
  readonly kind: 'app' | 'devops'
  readonly files: readonly string[]
}

/**
 * The candidate to hand out next: devops stories first, and then the oldest whose files nobody is
 * working on. Where every candidate shares files with work under way, the oldest is taken only when
 * nothing at all is under way: its turn comes, and until then a conflict is spared.
 */
export function chooseNext<T extends Candidate>(
  candidates: readonly T[],
  underWay: readonly (readonly string[])[],
): T | undefined {
  const devops = candidates.filter(({ kind }) => kind === 'devops')
  const inOrder = [...devops, ...candidates.filter(({ kind }) => kind !== 'devops')]
  const isFree = ({ files }: Candidate) => !underWay.some((other) => overlap(files, other))
  const free = inOrder.find(isFree)
  return free ?? (underWay.length === 0 ? inOrder[0] : undefined)
}

/** Whether two lists of expected files name the same file, or a folder above it. */
export function overlap(a: readonly string[], b: readonly string[]): boolean {
  return a.some((one) => b.some((other) => covers(one, other) || covers(other, one)))
}

function covers(above: string, path: string): boolean {
  const folder = above.replace(/\/?\*{0,2}$/, '')
  return path === above || path === folder || path.startsWith(`${folder}/`)
}
