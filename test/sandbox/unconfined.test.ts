import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { describeHere } from './here.ts'

describeHere('none', openUnconfined)
