/**
 * What a command inside may know of where it is, whatever the orchestrator's own environment says;
 * of that it gets the time zone.
 */
export function sandboxEnvironment(home: string, temporary: string): Record<string, string> {
  const { TZ } = process.env
  return {
    HOME: home,
    TMPDIR: temporary,
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    LANG: 'C.UTF-8',
    // .git can only be read: git would say so each time it has nothing better to do than write.
    GIT_OPTIONAL_LOCKS: '0',
    // An agent says when a limit resets by its clock, and we read it by ours.
    ...(TZ === undefined ? {} : { TZ }),
  }
}
