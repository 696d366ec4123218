import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { slipway: 'src/cli/main.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    minify: true,
    banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
})
