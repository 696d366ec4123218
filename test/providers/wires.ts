import type { Wire } from './wire.ts'
import { anthropic } from './wires/anthropic.ts'
import { gemini } from './wires/gemini.ts'
import { ollama } from './wires/ollama.ts'
import { openaiChat } from './wires/openai-chat.ts'
import { openaiResponses } from './wires/openai-responses.ts'

/** Every protocol that the server speaks. */
export const WIRES: readonly Wire[] = [anthropic, openaiChat, openaiResponses, gemini, ollama]
