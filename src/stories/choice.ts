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
  const taken = underWay.flatMap((files) => files.map(plain))
  const isFree = ({ files }: Candidate) => !meet(files.map(plain), taken)
  const free = inOrder.find(isFree)
  return free ?? (underWay.length === 0 ? inOrder[0] : undefined)
}

/**
 * Whether two lists of expected files may mean the same file. A pattern stands for the folder that
 * it looks into: rather too much is kept apart than two stories in one file.
 */
export function overlap(a: readonly string[], b: readonly string[]): boolean {
  return meet(a.map(plain), b.map(plain))
}

function meet(a: readonly string[], b: readonly string[]): boolean {
  return a.some((one) => b.some((other) => covers(one, other) || covers(other, one)))
}

/** Nothing stands for the whole repository. */
function covers(folder: string, path: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/** A path as git says it, up to the folder in which a pattern begins. */
function plain(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (/[*?[{]/.test(part)) break
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
