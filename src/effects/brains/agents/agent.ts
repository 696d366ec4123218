/** What a program of another maker is, and what it needs to do its work. */
export interface Agent {
  /** What people call it. */
  readonly name: string
  /** How it is started to speak the Agent Client Protocol; absent where it does not. */
  readonly acp?: AgentCommand
  /** How it works off one prompt without a protocol; absent where it does not. */
  readonly headless?: HeadlessCommand
  /**
   * Whether it tells of each call of a tool, with its input, in ways that its commands cannot take.
   * Then no other call is heard: one may come from a command that writes to where the agent does.
   */
  readonly announcesCalls?: true
  /** The environment variables that are its own: keys, addresses, choices. It gets no other. */
  readonly variables: readonly string[]
  /** Set where nobody knows what they hold, so that each may be a secret that is no plain choice. */
  readonly areVariablesSecret?: true
  /** Those of them that hold an address, whose host it has to reach. */
  readonly addresses: readonly string[]
  /** Set for every start, whatever the user has. */
  readonly environment?: Readonly<Record<string, string>>
  /** Set by what the state allows, for an agent that would else ask nobody. */
  readonly permissions?: Readonly<Record<'read' | 'write', Readonly<Record<string, string>>>>
  /**
   * What it is held to where a state only reads, whatever its user has set: who trusts a command has
   * not trusted what a coder makes of it.
   */
  readonly reading?: ReadingMeans
  /** What it keeps in the user's home and needs; what is not there is left out. */
  readonly home: readonly HomeFile[]
  /**
   * What it takes from a repository and cannot be told to leave: a repository could name a command,
   * or another address for the user's key. Nothing of it is seen inside a sandbox.
   */
  readonly repository?: readonly string[]
  /** The hosts of its maker, for whoever has told it no address. */
  readonly hosts: readonly string[]
}

/** The ways to hold an agent to reading. */
export interface ReadingMeans {
  /** Put after its own arguments. */
  readonly args?: readonly string[]
  /** A file of settings, and the option that names it. */
  readonly file?: { readonly flag: string; readonly name: string; readonly content: string }
  /** A file of the user's home that it sees otherwise, where it has not the home itself. */
  readonly home?: { readonly path: string; make(text: string): string }
  /** A variable with settings, made of what it holds and of what files of the user's home hold. */
  readonly settings?: {
    readonly variable: string
    readonly files: readonly string[]
    make(given: string | undefined, texts: readonly string[]): string
  }
}

/** A command, as the user would type it. Its first word is looked for in PATH. */
export interface AgentCommand {
  readonly argv: readonly [string, ...string[]]
  /** Where an adapter wants to be told the agent's own program: variable and command. */
  readonly program?: readonly [variable: string, command: string]
  /** How it is told the model to ask; absent, by an option of the session. */
  readonly model?: { readonly flag: string } | { readonly variable: string }
  /** The mode that a session is put into, by who confines the agent and what it may do. */
  readonly modes?: Readonly<Record<Confinement, Readonly<Record<'read' | 'write', string>>>>
  /** Whether a message without an id is the adapter's own: what went wrong, and no reply. */
  readonly namesMessages?: true
  /** Whether it tells the tokens of each request once, and not how many it has in its context. */
  readonly tellsRequests?: true
  /** Told with a new session by what the state allows, in the words of that agent. */
  readonly meta?: Readonly<Record<'read' | 'write', Readonly<Record<string, unknown>>>>
}

/** A command that reads a prompt and prints lines of JSON, in the dialect of one agent. */
export interface HeadlessCommand {
  readonly argv: readonly [string, ...string[]]
  readonly dialect: 'claude' | 'codex'
}

/**
 * Who keeps an agent in its place: a sandbox of ours, so that its own would only be in the way, or
 * nobody but itself.
 */
export type Confinement = 'ours' | 'its_own'

/** A file or folder below the user's home. */
interface HomeFile {
  readonly path: string
  /** `write` for what the agent renews itself, such as a token that expires. */
  readonly access: 'read' | 'write'
  /**
   * Whether what is in a folder is shown one by one, for an agent that adds files of its own there
   * and does not start where it cannot. They are gone after the turn.
   */
  readonly inParts?: true
  /**
   * For a file that can name more than credentials: the agent has a copy of it, and this says what
   * the file becomes after the turn, undefined for what it is.
   */
  readonly renew?: (file: RenewedFile) => string | undefined
}

/** A file before a turn, as an agent has left its copy, and as the file is by now. */
export interface RenewedFile {
  readonly before: string
  readonly left: string
  readonly now: string
}
