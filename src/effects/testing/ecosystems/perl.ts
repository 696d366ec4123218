import type { Ecosystem } from './ecosystem.ts'

/** Perl's tests in the folder `t`. */
export const perl: Ecosystem = async (files) => {
  const [first] = await files.filesIn('t', /\.t$/)
  return first === undefined ? [] : [{ argv: ['prove', '-lr', 't'], reason: `there is t/${first}` }]
}
