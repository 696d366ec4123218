const SECRET_NAME =
  /KEY|TOKEN|HEADERS|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|DSN|(?:^|_)PAT(?:$|_)/i

/** Whether a variable says by its name that its value is for nobody's eyes. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}
