import { ASK_FOR_PASSWORD, atTerminal, BRANCH, COMMIT, CONFLICT, EDIT, steps } from './typing.ts'
import type { Planted, Planting, Vector } from './vector.ts'

type Shape = Omit<Vector, 'name' | 'where'>

const HOOK_NAMES = ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-commit']

const setting = (key: string, control: string, others: Record<string, string> = {}): Shape => ({
  plant: ({ program }) => ({ config: { ...others, [key]: program } }),
  control,
})

const template = ({ folder }: Planting): Planted => ({
  programs: [`${folder}/template/hooks/post-checkout`],
})

const HOME: Readonly<Record<string, Shape & Pick<Vector, 'hidesOthers'>>> = {
  'home.core.fsmonitor': setting('core.fsmonitor', 'git status'),
  'home.diff.external': setting('diff.external', steps(EDIT, 'git diff')),
  'home.core.hooksPath': {
    plant: ({ folder }) => ({
      config: { 'core.hooksPath': `${folder}/hooks` },
      programs: HOOK_NAMES.map((name) => `${folder}/hooks/${name}`),
    }),
    control: BRANCH,
  },
  'home.gpg.program': setting('gpg.program', 'git commit -q --allow-empty -m x', {
    'commit.gpgSign': 'true',
  }),
  'home.alternateRefsCommand': {
    plant: ({ program }) => ({ config: { 'core.alternateRefsCommand': program } }),
    control: steps('git clone -q --bare -s . ../b', 'git push -q ../b main:new'),
  },
  'home.packObjectsHook': setting(
    'uploadpack.packObjectsHook',
    'git clone -q --no-local . ../copy',
  ),
  'home.filter': {
    plant: ({ program }) => ({
      config: { 'filter.evil.clean': program, 'filter.evil.smudge': program },
      texts: { '.config/git/attributes': '* filter=evil\n' },
    }),
    control: steps(EDIT, 'git add a.txt'),
  },
  'home.merge.driver': {
    plant: ({ program, folder }) => ({
      config: {
        'merge.evil.driver': `${program} %A`,
        'core.attributesFile': `${folder}/attributes`,
      },
      texts: { [`${folder}/attributes`]: '* merge=evil\n' },
    }),
    control: CONFLICT,
  },
  'home.init.templateDir': {
    plant: (planting) => ({
      ...template(planting),
      config: { 'init.templateDir': `${planting.folder}/template` },
    }),
    control: 'git clone -q . ../copy',
  },
  'home.url.insteadOf': {
    hidesOthers: true,
    plant: ({ program }) => ({
      config: { 'protocol.ext.allow': 'always', [`url.ext::${program} .insteadOf`]: '/' },
    }),
    control: 'git ls-remote /anything',
  },
  'home.xdg': {
    plant: ({ program }) => ({
      texts: { '.config/git/config': `[core]\n\teditor = ${program}\n` },
    }),
    control: 'git commit --allow-empty',
  },
}

const variable = (name: string, control: string, others: Record<string, string> = {}): Shape => ({
  plant: ({ program }) => ({ env: { ...others, [name]: program } }),
  control,
})

const SSH = 'git ls-remote ssh://localhost/x'

const ENVIRONMENT: Readonly<Record<string, Shape & Pick<Vector, 'hidesOthers'>>> = {
  GIT_SSH_COMMAND: variable('GIT_SSH_COMMAND', SSH),
  GIT_SSH: variable('GIT_SSH', SSH),
  GIT_EXTERNAL_DIFF: variable('GIT_EXTERNAL_DIFF', steps(EDIT, 'git diff')),
  GIT_PROXY_COMMAND: variable('GIT_PROXY_COMMAND', 'git ls-remote git://localhost/x'),
  GIT_ASKPASS: variable('GIT_ASKPASS', ASK_FOR_PASSWORD),
  SSH_ASKPASS: variable('SSH_ASKPASS', ASK_FOR_PASSWORD),
  GIT_EDITOR: variable('GIT_EDITOR', 'git commit --allow-empty'),
  EDITOR: variable('EDITOR', 'git commit --allow-empty'),
  VISUAL: variable('VISUAL', 'TERM=xterm git commit --allow-empty'),
  GIT_SEQUENCE_EDITOR: variable('GIT_SEQUENCE_EDITOR', steps(COMMIT, 'git rebase -i HEAD~1')),
  GIT_PAGER: variable('GIT_PAGER', atTerminal('git log')),
  PAGER: variable('PAGER', atTerminal('git log')),
  GIT_CONFIG_COUNT: {
    plant: ({ program }) => ({
      env: {
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.fsmonitor',
        GIT_CONFIG_VALUE_0: program,
      },
    }),
    control: 'git status',
  },
  GIT_CONFIG_PARAMETERS: {
    plant: ({ program }) => ({ env: { GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${program}'` } }),
    control: 'git status',
  },
  GIT_CONFIG_GLOBAL: {
    hidesOthers: true,
    plant: ({ program, folder }) => ({
      env: { GIT_CONFIG_GLOBAL: `${folder}/config` },
      texts: { [`${folder}/config`]: `[core]\n\tfsmonitor = ${program}\n` },
    }),
    control: 'git status',
  },
  GIT_CONFIG_SYSTEM: {
    plant: ({ program, folder }) => ({
      env: { GIT_CONFIG_SYSTEM: `${folder}/config` },
      texts: { [`${folder}/config`]: `[diff]\n\texternal = ${program}\n` },
    }),
    control: steps(EDIT, 'git diff'),
  },
  GIT_TEMPLATE_DIR: {
    plant: (planting) => ({
      ...template(planting),
      env: { GIT_TEMPLATE_DIR: `${planting.folder}/template` },
    }),
    control: 'git clone -q . ../copy',
  },
  GIT_EXEC_PATH: {
    hidesOthers: true,
    plant: ({ folder }) => ({
      env: { GIT_EXEC_PATH: `${folder}/bin` },
      programs: ['git-upload-pack', 'git', 'git-remote-https'].map(
        (name) => `${folder}/bin/${name}`,
      ),
    }),
    control: 'git ls-remote "$PWD"',
  },
  GIT_TRACE: { plant: ({ file }) => ({ env: { GIT_TRACE: file } }), control: 'git status' },
  GIT_TRACE2_EVENT: {
    plant: ({ file }) => ({ env: { GIT_TRACE2_EVENT: file } }),
    control: 'git status',
  },
  'PATH.here': {
    plant: () => ({ env: { PATH: '.' }, treePrograms: ['git', 'git-upload-pack'] }),
    hidesOthers: true,
    control: 'git status',
  },
  'PATH.relative': {
    plant: () => ({ env: { PATH: 'tools/bin' }, treePrograms: ['tools/bin/git'] }),
    hidesOthers: true,
    control: 'git status',
  },
  'PATH.empty': {
    plant: () => ({ env: { PATH: '' }, treePrograms: ['git'] }),
    hidesOthers: true,
    control: 'git status',
  },
}

/** What a machine can have besides the repository. */
export const HOME_VECTORS: readonly Vector[] = [
  ...Object.entries(HOME).map(([name, shape]) => ({ name, where: 'home' as const, ...shape })),
  ...Object.entries(ENVIRONMENT).map(([name, shape]) => ({
    name,
    where: 'environment' as const,
    ...shape,
  })),
]
