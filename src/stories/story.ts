/** What has to hold when the spec is built. */
export type Criterion = { readonly id: string; readonly text: string }

/** One piece of work, as the architect cut it. */
export type Story = {
  readonly id: string
  readonly title: string
  readonly description: string
  /** The criteria of the spec that it covers. */
  readonly criteria: readonly Criterion[]
  readonly dependsOn: readonly string[]
  readonly expectedFiles: readonly string[]
  readonly kind: 'app' | 'devops'
  readonly estimate: 'small' | 'medium' | 'large'
}
