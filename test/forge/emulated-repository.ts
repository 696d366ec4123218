import { join } from 'node:path'
import { OWNER, TOKEN } from './emulator.ts'
import { remoteGit, remoteObject } from './remote-git.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

interface ApiAnswer {
  readonly status: number
  readonly body: Json
}

type Status = {
  context: string
  state: 'success' | 'pending' | 'failure' | 'error'
  target_url: string | null
}

/** A repository that the emulator and git have together, and what only one of them can answer. */
export class EmulatedRepository {
  readonly folder: string
  readonly name: string
  /** Commit statuses, which the emulator does not have. */
  readonly statuses = new Map<string, Status[]>()
  readonly #api: string
  /** What the emulator knows already. */
  #refs: ReadonlyMap<string, string> = new Map()
  readonly #blobs = new Set<string>()
  readonly #merged = new Map<number, { readonly head: string; readonly commit: string }>()

  constructor(emulatorUrl: string, root: string, name: string) {
    this.name = name
    this.folder = join(root, OWNER, `${name}.git`)
    this.#api = emulatorUrl
  }

  /** Makes the repository in the emulator, with what its folder holds. */
  async create(): Promise<void> {
    await this.#require('POST', '/user/repos', { name: this.name, auto_init: false })
    await this.takeOver()
  }

  /** Answers as GitHub would: from the emulator, with heads and merges from git. */
  async answer(method: string, path: string, body: Json | undefined): Promise<ApiAnswer> {
    const status = /\/commits\/([0-9a-f]{40})\/status(\?|$)/.exec(path)?.[1]
    if (status !== undefined) {
      return { status: 200, body: { statuses: this.statuses.get(status) ?? [] } }
    }
    const merging = /\/pulls\/(\d+)\/merge$/.exec(path)?.[1]
    if (method === 'PUT' && merging !== undefined) {
      return this.#merge(Number(merging), path, body as JsonObject)
    }
    const answer = await this.ask(method, path, body)
    const isPull = /\/pulls(\/\d+)?(\?|$)/.test(path) && answer.status < 300
    return isPull ? { ...answer, body: this.#correct(answer.body) } : answer
  }

  /** Asks the emulator itself. */
  async ask(method: string, path: string, body?: Json): Promise<ApiAnswer> {
    const response = await fetch(`${this.#api}${path}`, {
      method,
      headers: { authorization: `token ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }

  /** Tells the emulator of every branch and commit that git has and it does not know. */
  async takeOver(): Promise<void> {
    const repo = `/repos/${OWNER}/${this.name}/git`
    const refs = await this.#readRefs()
    for (const [ref, sha] of refs) {
      const before = this.#refs.get(ref)
      if (before === sha) continue
      await this.#addHistory(sha)
      if (before === undefined) await this.#require('POST', `${repo}/refs`, { ref, sha })
      else await this.#require('PATCH', `${repo}/${ref}`, { sha, force: true })
    }
    for (const ref of this.#refs.keys()) {
      if (!refs.has(ref)) await this.#require('DELETE', `${repo}/${ref}`)
    }
    this.#refs = refs
  }

  /** The branches that git has, with their commits. */
  async #readRefs(): Promise<Map<string, string>> {
    const format = '--format=%(refname) %(objectname)'
    const lines = await remoteGit(this.folder, 'for-each-ref', format, 'refs/heads')
    return new Map(
      lines
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ') as [string, string]),
    )
  }

  async #addHistory(sha: string): Promise<void> {
    const known = [...this.#refs.values()].map((commit) => `^${commit}`)
    const history = await remoteGit(this.folder, 'rev-list', '--reverse', sha, ...known)
    for (const commit of history.split('\n').filter(Boolean)) await this.#addCommit(commit)
  }

  /** Both hash alike, so that a commit has the same name on both sides. */
  async #addCommit(commit: string): Promise<void> {
    const git = `/repos/${OWNER}/${this.name}/git`
    const tree: Json[] = []
    const entries = await remoteGit(this.folder, 'ls-tree', '-r', commit)
    for (const entry of entries.split('\n')) {
      const [mode = '', type = '', sha = '', path = ''] = entry.split(/[ \t]/)
      tree.push({ path, mode, type, sha })
      if (this.#blobs.has(sha)) continue
      const content = await remoteObject(this.folder, 'blob', sha)
      await this.#require('POST', `${git}/blobs`, { content })
      this.#blobs.add(sha)
    }
    const { sha } = await this.#require('POST', `${git}/trees`, { tree })
    const raw = await remoteObject(this.folder, 'commit', commit)
    const message = raw.slice(raw.indexOf('\n\n') + 2)
    const format = '--format=%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI'
    const fields = await remoteGit(this.folder, 'log', '-1', format, commit)
    const [parents = '', name = '', email = '', date = '', ...committed] = fields.split('\0')
    const [committerName = '', committerEmail = '', committerDate = ''] = committed
    const made = await this.#require('POST', `${git}/commits`, {
      message,
      tree: sha as string,
      parents: parents.split(' ').filter(Boolean),
      author: { name, email, date },
      committer: { name: committerName, email: committerEmail, date: committerDate },
    })
    if (made.sha !== commit) throw new Error(`${commit} has another name in the emulator`)
  }

  /** GitHub's rule about heads, the emulator's record, and git's merge. */
  async #merge(number: number, path: string, body: JsonObject): Promise<ApiAnswer> {
    const { body: data } = await this.answer('GET', path.replace(/\/merge$/, ''), undefined)
    const { head, base } = data as { head: { sha: string }; base: { ref: string } }
    if (body.sha !== head.sha) {
      const message = 'Head branch was modified. Review and try the merge again.'
      return { status: 409, body: { message } }
    }
    const { sha: _, ...rest } = body
    const answer = await this.ask('PUT', path, rest)
    if (answer.status !== 200) return answer
    const tree = await remoteGit(this.folder, 'merge-tree', '--write-tree', base.ref, head.sha)
    const message = ['-m', String(body.commit_title), '-m', String(body.commit_message)]
    const parent = await remoteGit(this.folder, 'rev-parse', base.ref)
    const commit = await remoteGit(this.folder, 'commit-tree', tree, '-p', parent, ...message)
    await remoteGit(this.folder, 'update-ref', `refs/heads/${base.ref}`, commit, parent)
    this.#merged.set(number, { head: head.sha, commit })
    await this.takeOver()
    return { status: 200, body: { ...(answer.body as JsonObject), sha: commit } }
  }

  /** The emulator's pull requests stay at the head that they were opened with. */
  #correct(body: Json): Json {
    if (Array.isArray(body)) return body.map((each) => this.#correct(each))
    const { number, head, ...rest } = body as JsonObject & { head: { ref: string; sha: string } }
    const merged = this.#merged.get(number as number)
    const sha = merged?.head ?? this.#refs.get(`refs/heads/${head.ref}`) ?? head.sha
    const commit = merged?.commit ?? null
    return { ...rest, number: number as number, head: { ...head, sha }, merge_commit_sha: commit }
  }

  async #require(method: string, path: string, body?: Json): Promise<JsonObject> {
    const answer = await this.ask(method, path, body)
    if (answer.status < 300) return answer.body as JsonObject
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}
