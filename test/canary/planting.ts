import { appendFileSync, chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Marks } from './marks.ts'
import type { Vector } from './vector.ts'

/** Where vectors are planted. */
export interface Ground {
  /** What the marks are to say about where they come from. */
  readonly name: string
  /** A .git folder, or a home. */
  readonly folder: string
  readonly config: string
  /** The files that people work on. */
  readonly tree: string
  /** For what belongs to no place in particular. */
  readonly scratch: string
}

/** Plants vectors, one beside the other, and gives the variables that are part of them. */
export function plant(
  vectors: readonly Vector[],
  ground: Ground,
  marks: Marks,
): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const vector of vectors) {
    const { name } = vector
    const program = marks.program(name, ground.name)
    const folder = join(ground.scratch, `${name}@${ground.name}`)
    mkdirSync(folder, { recursive: true })
    const planted = vector.plant({ program, folder, file: marks.file(name, ground.name) })
    append(ground.config, configText(planted.config ?? {}))
    for (const [path, text] of Object.entries(planted.texts ?? {})) {
      append(resolve(ground.folder, path), text)
    }
    for (const path of planted.programs ?? []) install(program, resolve(ground.folder, path))
    for (const path of planted.treePrograms ?? []) install(program, join(ground.tree, path))
    for (const [key, value] of Object.entries(planted.env ?? {})) {
      env[key] = key === 'PATH' ? `${value}:${env.PATH ?? process.env.PATH}` : value
    }
  }
  return env
}

export const inRepository = (name: string, tree: string, scratch: string): Ground => {
  const folder = join(tree, '.git')
  return { name, folder, config: join(folder, 'config'), tree, scratch }
}

export const inHome = (home: string, tree: string, scratch: string): Ground => {
  return { name: 'home', folder: home, config: join(home, '.gitconfig'), tree, scratch }
}

function append(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, text)
}

function install(program: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(program, path)
  chmodSync(path, 0o755)
}

function configText(config: Readonly<Record<string, string>>): string {
  const lines = Object.entries(config).map(([key, value]) => {
    const [, section, middle, name] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/.exec(key) as string[]
    const header = middle === undefined ? `[${section}]` : `[${section} "${middle}"]`
    return `${header}\n\t${name} = "${value}"\n`
  })
  return lines.join('')
}
