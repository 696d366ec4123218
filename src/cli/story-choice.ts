import { CUT_STORY } from '../agents/team/story-agent.ts'
import type { Control } from './engine/control.ts'
import { reachEngine } from './engine/reach.ts'
import { EXIT_CODE } from './exit-code.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { UsageError } from './usage-error.ts'
import { chooseRun, openSource } from './view/open-source.ts'
import { readView } from './view/read-view.ts'
import { isStoryOver, type QuestionView, type RunView, type StoryView } from './view/run-view.ts'

export interface StoryOptions extends StateOptions {
  readonly run?: string
  readonly json?: true
}

/** What a human can decide about a story that failed. */
type StoryChoice = 'retry' | 'rewrite' | 'waive' | 'cut'

const SAID: Readonly<Record<StoryChoice, string>> = {
  retry: 'It is tried again',
  rewrite: 'It is tried again, as it is written now',
  waive: 'The run goes on without it, and what depends on it is built all the same',
  cut: 'It is out of the run, and so is what depends on it',
}

const CUT_MS_MAX = 5_000
const POLL_MS = 100

/** `slipway retry|rewrite|waive|cut <story>`: what becomes of a story that failed for good. */
export async function decideStory(
  choice: StoryChoice,
  name: string,
  words: readonly string[],
  options: StoryOptions,
): Promise<number> {
  const text = words.join(' ').trim()
  if (choice === 'rewrite' && text === '') {
    throw new UsageError('Say how the story is to be written.')
  }
  const { view, story } = await findStory(choice, name, options)
  const question = questionAbout(view, story)
  const { root, stateFolder } = findPlace(options)
  const control = await reachEngine(root, stateFolder)
  if (question === undefined) await cutStory(control, view, story)
  else await control.answer(question.id, { choice, text: text === '' ? choice : text })
  const data = { run: view.run, story: name, choice }
  if (options.json) process.stdout.write(`${JSON.stringify(data)}\n`)
  else process.stderr.write(`${name}: ${SAID[choice]}${whenOf(view)}\n`)
  return EXIT_CODE.done
}

/** Nobody acts on what was said while the run rests. */
function whenOf({ run, status }: RunView): string {
  return isResting(status) ? `, once the run is resumed: slipway resume ${run}` : '.'
}

function isResting(status: RunView['status']): boolean {
  return status === 'paused' || status === 'stopped'
}

interface FoundStory {
  readonly view: RunView
  readonly story: StoryView
}

function questionAbout({ questions }: RunView, { id }: StoryView): QuestionView | undefined {
  return questions.find(({ about, kind }) => about === id && kind === 'story')
}

/** The one story of that name that something can be decided about. */
async function findStory(
  choice: StoryChoice,
  name: string,
  options: StoryOptions,
): Promise<FoundStory> {
  const all = (await readViews(options)).flatMap((view) =>
    view.stories.map((story) => ({ view, story })),
  )
  const isOpen = ({ view, story }: FoundStory) =>
    questionAbout(view, story) !== undefined || (choice === 'cut' && !isStoryOver(story))
  const open = all.filter(isOpen)
  const [found, ...others] = open.filter(({ story }) => story.id === name)
  if (others.length > 0) {
    throw new UsageError(`Several runs have a story ${JSON.stringify(name)}. Say which with --run.`)
  }
  if (found !== undefined) return found
  const [what, none] =
    choice === 'cut' ? ['is left to be cut', 'None is.'] : ['has failed for good', 'None has.']
  const known = open.length === 0 ? none : open.map(({ story }) => story.id).join(', ')
  throw new UsageError(`No story ${JSON.stringify(name)} ${what}. ${known}`)
}

async function readViews(options: StoryOptions): Promise<readonly RunView[]> {
  if (options.run !== undefined) {
    const { source, run, close } = await chooseRun(options.run, options, 'engine')
    return [await readView(source, run).finally(close)]
  }
  const { source, close } = await openSource(options, 'engine')
  const read = async () => {
    const runs = await source.runs()
    return Promise.all(runs.map(({ id }) => readView(source, id)))
  }
  return read().finally(close)
}

/** A story that did not fail can be cut until a coder has it. */
async function cutStory(control: Control, view: RunView, story: StoryView): Promise<void> {
  const { run, status } = view
  const { id } = story
  if (story.state === 'ASSIGNED') throw tooLate(story)
  const untilMs = Date.now() + CUT_MS_MAX
  await control.tellStory(run, id, CUT_STORY)
  if (isResting(status)) return
  for (;;) {
    const { stories } = await readView(control, run)
    const now = stories.find((each) => each.id === id) ?? story
    if (now.state === 'CUT') return
    if (now.state === 'ASSIGNED' || Date.now() > untilMs) throw tooLate(now)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function tooLate({ id, coder }: StoryView): UsageError {
  return new UsageError(
    `${coder ?? 'Somebody'} is at the story ${id}. It can be cut before a coder has it, or when it failed.`,
  )
}
