import { setFlagsFromString } from 'node:v8'

/**
 * Has functions compiled when they are first called, and not interpreted until they have been called
 * often. Between a reply and the next request a thousand functions run once each: this takes a fifth
 * off that time (`npm run bench -- turn`). A V8 that does not know the flag says so, and goes on.
 */
export function compileBeforeFirstCall(): void {
  setFlagsFromString('--always-sparkplug')
}
