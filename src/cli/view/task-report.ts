import type { Round } from '../../agents/coordinator/task-work.ts'
import { printable } from '../printable.ts'
import { printDuration } from './figures.ts'
import { deliveryError } from './task-status.ts'
import type { TaskView } from './task-view.ts'

/** A task as a Markdown document: what was asked, what came of it, and how, round by round. */
export function taskMarkdown(view: TaskView, workRepository: string): string {
  const parts = [
    `# ${view.task}`,
    quoted(view.text),
    ...view.followUps.map((text, i) => `Follow-up ${i + 1}:\n\n${quoted(text)}`),
    outcomeText(view),
    resultText(view, workRepository),
    ...view.rounds.map(roundText),
    '## Transitions',
    transitionTable(view),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function outcomeText({ outcome, meaning, why, state, status, delivery }: TaskView): string {
  if (outcome === null) return `**${status}**, in \`${state}\`.`
  const error = deliveryError(delivery)
  const parts = [
    `**${outcome}**: ${meaning}`,
    why === '' ? '' : fenced(why),
    error === undefined ? '' : `**It could not be handed in**:\n\n${fenced(error)}`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function resultText(view: TaskView, workRepository: string): string {
  const { branch, head, delivery, outcome, task } = view
  if (branch === null || head === null) {
    const isOffered = view.status === 'waiting'
    return isOffered ? `\`slipway confirm ${task}\` has it done.` : 'Nothing was changed.'
  }
  const lines = [`The work is commit \`${head.slice(0, 12)}\` on the branch \`${branch}\`:`]
  lines.push('', fenced(`git fetch ${workRepository} ${branch} && git diff HEAD...FETCH_HEAD`))
  if (outcome !== 'approved') lines.push('', 'It is not approved.')
  if (delivery !== null && 'number' in delivery) {
    lines.push('', `Pull request ${delivery.number}${delivery.url ? `: ${delivery.url}` : ''}`)
  }
  return lines.join('\n')
}

function roundText(round: Round): string {
  const { number, kind, startedMs, endedMs, cameTo, review, plan } = round
  const time = endedMs === null ? '' : `, ${printDuration(endedMs - startedMs)}`
  return [
    `## Round ${number}: ${kind}${cameTo === null ? '' : `, ${cameTo}`}${time}`,
    section('Proposal', round.proposal),
    section('The reviewer', round.reviewerSays),
    section('The tester', round.testerSays),
    section('The coder', round.coderSays),
    round.head === undefined ? '' : `Commit \`${round.head.slice(0, 12)}\`.`,
    section("The repository's own tests", round.ownTests, true),
    review === undefined ? '' : reviewText(review),
    plan === undefined ? '' : section('Test plan', plan.test_plan),
    section('Tests', round.tests, true),
    section('To be put right', round.mustFix, true),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function reviewText(review: NonNullable<Round['review']>): string {
  const points = (name: string, list: readonly string[]) =>
    list.map((point) => `- ${name}: ${line(point)}`)
  const lines = [
    ...points('must fix', review.must_fix),
    ...points('nice to have', review.nice_to_have),
    ...points('to test', review.tests),
    ...points('security', review.security),
  ]
  return [`### Review: ${review.decision}`, lines.join('\n')].filter(Boolean).join('\n\n')
}

function section(title: string, text: string | undefined, isOutput = false): string {
  if (text === undefined || text.trim() === '') return ''
  return `### ${title}\n\n${isOutput ? fenced(text) : quoted(text)}`
}

function transitionTable({ transitions }: TaskView): string {
  const rows = transitions.map(({ at, from, event, to, retry_count, retry_reason }) => {
    const retry = retry_count === undefined ? '' : `${retry_count}: ${line(retry_reason ?? '')}`
    return `| ${at} | ${from ?? 'null'} | ${event} | ${to} | ${retry.replaceAll('|', '\\|')} |`
  })
  return ['| at | from | event | to | retry |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  )
}

/** A text of somebody else, as a quotation: nothing in it is a heading of ours. */
function quoted(text: string): string {
  return lines(text)
    .map((each) => `> ${each}`)
    .join('\n')
}

/** Between fences that the text cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${lines(text).join('\n')}\n${fence}`
}

function lines(text: string): string[] {
  return text.trimEnd().split('\n').map(printable)
}

function line(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' ').trim())
}
