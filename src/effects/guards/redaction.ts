/** What secrets look like where their values are not known. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bxox[abposr]-[A-Za-z0-9-]{10,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{24,}/g,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /(?<=\b(?:Authorization|Proxy-Authorization)\s*:\s*(?:Bearer|Basic|token)\s+)[^\s"']{8,}/gi,
  /(?<=\/\/[^\s/:@]{1,200}:)[^\s/@]{3,200}(?=@)/g,
]

/** Shorter values are words: blacking them out would say where they are. */
const SECRET_CHARS_MIN = 6

export const REDACTED = '[redacted]'

/**
 * The door for every text that is stored, printed, shown or sent: known values and what looks like
 * a secret are replaced. Known values are also found as base64, percent-encoded and inside JSON.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let result = text
  for (const form of secrets.flatMap(formsOf).sort((a, b) => b.length - a.length)) {
    if (result.includes(form)) result = result.replaceAll(form, REDACTED)
  }
  for (const pattern of PATTERNS) result = result.replace(pattern, REDACTED)
  return result
}

function formsOf(secret: string): readonly string[] {
  if (secret.length < SECRET_CHARS_MIN) return []
  const bytes = Buffer.from(secret)
  // Inside a longer text base64 starts at any of three places, and its ends depend on neighbours.
  const shifted = [0, 1, 2].map((shift) => {
    const all = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return all.slice(
      shift === 0 ? 0 : shift + 1,
      bytes.length % 3 === 0 && shift === 0 ? undefined : -1,
    )
  })
  const base64 = shifted.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64]
  return [...new Set(forms)].filter((form) => form.length >= SECRET_CHARS_MIN)
}
