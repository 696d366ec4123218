/** One way to have whoever uses git run a program. */
export interface Vector {
  readonly name: string
  /**
   * Where it is planted: in the .git folder of a repository, in the user's home, or in the
   * environment of the user's shell.
   */
  readonly where: 'repository' | 'home' | 'environment'
  /** Hides others when it is there, so that it is planted without them. */
  readonly hidesOthers?: true
  readonly plant: (planting: Planting) => Planted
  /** What a victim types in the repository; undefined where git does not fall for it. */
  readonly control: string | undefined
}

export interface Planting {
  /** The program that leaves the mark. */
  readonly program: string
  /** A file whose existence is the mark. */
  readonly file: string
  /** A folder of the vector's own for what it needs besides. */
  readonly folder: string
}

/** What a vector adds. All paths are relative: to the .git folder, the home or the work tree. */
export interface Planted {
  /** For the configuration of the repository, or of the user. */
  readonly config?: Readonly<Record<string, string>>
  /** Programs, by their path. */
  readonly programs?: readonly string[]
  readonly texts?: Readonly<Record<string, string>>
  /** Programs beside the files that people work on. */
  readonly treePrograms?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}
