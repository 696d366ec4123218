import type { Ecosystem } from './ecosystem.ts'

/** .NET: the solution, or else the project. */
export const dotnet: Ecosystem = async (files) => {
  const solutions = await files.filesIn('.', /\.slnx?$/)
  const projects = await files.filesIn('.', /\.(?:cs|fs|vb)proj$/)
  const [first, ...others] = [...solutions, ...projects]
  if (first === undefined) return []
  const reason = `there is ${first}`
  // With several, dotnet asks to be told which; the dot keeps the name from being an option.
  return others.length === 0
    ? [{ argv: ['dotnet', 'test'], reason }]
    : [{ argv: ['dotnet', 'test', `./${first}`], reason }]
}
