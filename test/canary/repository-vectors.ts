import {
  ASK_FOR_PASSWORD,
  atTerminal,
  BRANCH,
  COMMIT,
  CONFLICT,
  EDIT,
  MERGE,
  pushHere,
  steps,
} from './typing.ts'
import type { Vector } from './vector.ts'

type Shape = Omit<Vector, 'name' | 'where'>

const hook = (control: string | undefined) => (name: string) => ({
  plant: () => ({ programs: [`hooks/${name}`] }),
  control,
})

/** A setting whose value is the program. */
const setting = (
  key: string,
  control: string | undefined,
  others: Record<string, string> = {},
) => ({
  plant: ({ program }: { program: string }) => ({ config: { ...others, [key]: program } }),
  control,
})

const HOOKS: Readonly<Record<string, string | undefined>> = {
  'pre-commit': COMMIT,
  'prepare-commit-msg': COMMIT,
  'commit-msg': COMMIT,
  'post-commit': COMMIT,
  'post-checkout': BRANCH,
  'post-index-change': 'touch -d 2001-01-01 a.txt; git status',
  'reference-transaction': BRANCH,
  'pre-merge-commit': MERGE,
  'post-merge': MERGE,
  'pre-rebase': steps(COMMIT, 'git rebase -f HEAD~1'),
  'post-rewrite': 'git commit -q --amend -m anew',
  'pre-push': steps('git init -q --bare ../there', 'git push -q ../there main'),
  'pre-receive': pushHere('new'),
  update: pushHere('new'),
  'post-receive': pushHere('new'),
  'post-update': pushHere('new'),
  'push-to-checkout': steps('git config receive.denyCurrentBranch updateInstead', pushHere('main')),
  'pre-auto-gc': steps(
    ...['git repack -q', COMMIT, 'git repack -q'],
    'git -c gc.autoPackLimit=1 gc --auto',
  ),
  'applypatch-msg': steps(
    ...[COMMIT, 'git format-patch -q -1 -o ..', 'git reset -q --hard HEAD~1'],
    'git am -q ../0001-more.patch',
  ),
}

const SETTINGS: Readonly<Record<string, Shape>> = {
  'core.fsmonitor': setting('core.fsmonitor', 'git status'),
  'core.sshCommand': setting('core.sshCommand', 'git ls-remote ssh://localhost/x'),
  'core.gitProxy': setting('core.gitProxy', 'git ls-remote git://localhost/x'),
  'core.editor': setting('core.editor', 'git commit --allow-empty'),
  'sequence.editor': setting('sequence.editor', steps(COMMIT, 'git rebase -i HEAD~1')),
  'core.askPass': setting('core.askPass', ASK_FOR_PASSWORD),
  'credential.helper': setting('credential.helper', ASK_FOR_PASSWORD),
  'core.pager': setting('core.pager', atTerminal('git log')),
  'pager.diff': setting('pager.diff', steps(EDIT, atTerminal('git diff'))),
  'diff.external': setting('diff.external', steps(EDIT, 'git diff')),
  'interactive.diffFilter': setting(
    'interactive.diffFilter',
    steps(EDIT, atTerminal('echo q | git add -p')),
    {
      'color.ui': 'always',
    },
  ),
  'gpg.program': setting('gpg.program', COMMIT, { 'commit.gpgSign': 'true' }),
  'gpg.ssh.program': setting('gpg.ssh.program', COMMIT, {
    'commit.gpgSign': 'true',
    'gpg.format': 'ssh',
    'user.signingKey': '/dev/null',
  }),
  'log.showSignature': setting('gpg.openpgp.program', 'git log signed', {
    'log.showSignature': 'true',
  }),
  alias: {
    plant: ({ program }) => ({ config: { 'alias.update': `!${program}` } }),
    control: 'git update',
  },
  'trailer.command': {
    plant: ({ program }) => ({ config: { 'trailer.x.key': 'X', 'trailer.x.command': program } }),
    control: 'git interpret-trailers < a.txt',
  },
  'tar.command': setting('tar.evil.command', 'git archive --format=evil HEAD'),
  difftool: setting('difftool.evil.cmd', steps(EDIT, 'git difftool -y'), {
    'diff.tool': 'evil',
  }),
  mergetool: setting('mergetool.evil.cmd', steps(CONFLICT, 'git mergetool -y'), {
    'merge.tool': 'evil',
  }),
  'man.viewer': setting('man.evil.cmd', 'git help -m status', { 'man.viewer': 'evil' }),
  'remote.uploadpack': setting('remote.evil.uploadpack', 'git fetch -q evil', {
    'remote.evil.url': '/',
  }),
  'remote.receivepack': setting('remote.evil.receivepack', 'git push -q evil main', {
    'remote.evil.url': '/',
  }),
  'core.alternateRefsCommand': {
    plant: ({ program, folder }) => ({
      config: { 'core.alternateRefsCommand': program },
      texts: { 'objects/info/alternates': `${folder}/lent/objects\n` },
    }),
    control: steps('git clone -q --bare . "$FOLDER/lent"', pushHere('new')),
  },
  'uploadpack.packObjectsHook': setting('uploadpack.packObjectsHook', undefined),
}

const withAttribute = (value: string) => ({ texts: { 'info/attributes': `*.txt ${value}\n` } })

const DRIVERS: Readonly<Record<string, Shape>> = {
  'filter.clean': {
    plant: ({ program }) => ({
      config: { 'filter.evil.clean': program },
      ...withAttribute('filter=evil'),
    }),
    control: steps(EDIT, 'git add a.txt'),
  },
  'filter.smudge': {
    plant: ({ program }) => ({
      config: { 'filter.evil.smudge': program },
      ...withAttribute('filter=evil'),
    }),
    control: 'rm a.txt; git checkout -q a.txt',
  },
  'filter.process': {
    hidesOthers: true,
    plant: ({ program }) => ({
      config: { 'filter.lfs.process': program, 'filter.lfs.required': 'true' },
      ...withAttribute('filter=lfs'),
    }),
    control: steps(EDIT, 'git add a.txt'),
  },
  'merge.driver': {
    plant: ({ program }) => ({
      config: { 'merge.evil.driver': `${program} %O %A %B` },
      ...withAttribute('merge=evil'),
    }),
    control: CONFLICT,
  },
  'diff.command': {
    plant: ({ program }) => ({
      config: { 'diff.evil.command': program },
      ...withAttribute('diff=evil'),
    }),
    control: steps(EDIT, 'git diff'),
  },
  'diff.textconv': {
    plant: ({ program }) => ({
      config: { 'diff.evil.textconv': program },
      ...withAttribute('diff=evil'),
    }),
    control: steps(EDIT, 'git diff'),
  },
}

const INDIRECT: Readonly<Record<string, Shape & Pick<Vector, 'hidesOthers'>>> = {
  'core.hooksPath': {
    hidesOthers: true,
    plant: ({ folder }) => ({
      config: { 'core.hooksPath': `${folder}/hooks` },
      programs: Object.keys(HOOKS).map((name) => `${folder}/hooks/${name}`),
    }),
    control: BRANCH,
  },
  include: {
    plant: ({ program, folder }) => ({
      config: { 'include.path': `${folder}/included` },
      texts: { [`${folder}/included`]: `[core]\n\tfsmonitor = ${program}\n` },
    }),
    hidesOthers: true,
    control: 'git status',
  },
  includeIf: {
    hidesOthers: true,
    plant: ({ program, folder }) => ({
      config: { 'includeIf.gitdir:/**.path': `${folder}/included` },
      texts: { [`${folder}/included`]: `[diff]\n\texternal = ${program}\n` },
    }),
    control: steps(EDIT, 'git diff'),
  },
  'config.worktree': {
    hidesOthers: true,
    plant: ({ program }) => ({
      config: { 'extensions.worktreeConfig': 'true' },
      texts: { 'config.worktree': `[core]\n\teditor = ${program}\n` },
    }),
    control: 'git commit --allow-empty',
  },
  'protocol.ext': {
    plant: ({ program }) => ({
      config: { 'protocol.ext.allow': 'always', 'remote.ext.url': `ext::${program}` },
    }),
    control: 'git fetch -q ext',
  },
  'url.insteadOf': {
    plant: ({ program }) => ({
      config: { 'protocol.ext.allow': 'always', [`url.ext::${program} .insteadOf`]: '/' },
    }),
    control: 'git ls-remote /anything',
  },
  'submodule.update': {
    plant: ({ program }) => ({
      config: {
        'submodule.sub.update': `!${program}`,
        'submodule.sub.url': '../sub',
        'submodule.sub.active': 'true',
      },
    }),
    control: 'git -c protocol.file.allow=always submodule update sub',
  },
  'submodule.url': {
    plant: ({ program }) => ({
      config: {
        'protocol.ext.allow': 'always',
        'submodule.sub.url': `ext::${program}`,
        'submodule.sub.active': 'true',
      },
    }),
    hidesOthers: true,
    control: 'git -c protocol.ext.allow=always submodule update sub',
  },
  promisor: {
    hidesOthers: true,
    plant: ({ program }) => ({
      config: {
        'core.repositoryFormatVersion': '1',
        'extensions.partialClone': 'lazy',
        'remote.lazy.url': '/',
        'remote.lazy.uploadpack': program,
        'remote.lazy.promisor': 'true',
      },
    }),
    control: 'git cat-file -e 1111111111111111111111111111111111111111',
  },
}

/** What a hostile .git folder can hold. */
export const REPOSITORY_VECTORS: readonly Vector[] = [
  ...Object.entries(HOOKS).map(([name, control]) => ({
    name: `hooks.${name}`,
    where: 'repository' as const,
    ...hook(control)(name),
  })),
  ...Object.entries({ ...SETTINGS, ...DRIVERS, ...INDIRECT }).map(([name, shape]) => ({
    name,
    where: 'repository' as const,
    ...shape,
  })),
]
