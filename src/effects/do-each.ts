/** Does one thing after the other, whatever came of those before; throws what failed first. */
export async function doEach(
  ...acts: readonly (() => Promise<unknown> | undefined)[]
): Promise<void> {
  const errors: unknown[] = []
  for (const act of acts) {
    try {
      await act()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
