import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'rolldown'

/** The licences of the packages whose code is in the bundle, in a file beside it. */
const licences: Plugin = {
  name: 'licences',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) =>
      chunk.type === 'chunk' ? Object.keys(chunk.modules) : [],
    )
    const folders = modules.flatMap((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [])
    const source = [...new Set(folders)].map(licenceOf).join('\n\n')
    this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source })
  },
}

/** The migrations are read as files, from beside the chunk that runs them. */
const migrations: Plugin = {
  name: 'migrations',
  generateBundle() {
    const folder = 'src/journal/sqlite/migrations'
    for (const file of readdirSync(folder)) {
      const source = readFileSync(`${folder}/${file}`, 'utf8')
      this.emitFile({ type: 'asset', fileName: `chunks/migrations/${file}`, source })
    }
  },
}

/** So are the prompts, from beside the chunks. */
const prompts: Plugin = {
  name: 'prompts',
  generateBundle() {
    const folder = 'src/effects/prompts'
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.md')) continue
      const source = readFileSync(`${folder}/${file}`, 'utf8')
      this.emitFile({ type: 'asset', fileName: `prompts/${file}`, source })
    }
  },
}

/** And what the demo plays. */
const demo: Plugin = {
  name: 'demo',
  generateBundle() {
    const folder = 'src/cli/demo'
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = `${entry.parentPath}/${entry.name}`
      if (!entry.isFile() || entry.name.endsWith('.ts')) continue
      const fileName = `demo${path.slice(folder.length)}`
      this.emitFile({ type: 'asset', fileName, source: readFileSync(path, 'utf8') })
    }
  },
}

/** Packages without a licence file, and the neighbour from the same repository that has theirs. */
const LICENSED_WITH: Readonly<Record<string, string>> = {
  '@ai-sdk/provider-utils': 'provider',
}

function licenceOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const place = name in LICENSED_WITH ? `${folder}/../${LICENSED_WITH[name]}` : folder
  const file = readdirSync(place).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} is bundled and has no licence file`)
  return `${name} ${version}\n\n${readFileSync(`${place}/${file}`, 'utf8')}`
}

export default defineConfig({
  input: { slipway: 'src/cli/main.ts' },
  platform: 'node',
  plugins: [licences, migrations, prompts, demo],
  external: ['@photostructure/sqlite'],
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    minify: true,
    banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
})
