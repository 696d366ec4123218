const SECRET_NAME = /KEY|TOKEN|HEADERS|SECRET|PASSWORD|CREDENTIAL/

/** Whether a variable says by its name that its value is for nobody's eyes. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}
