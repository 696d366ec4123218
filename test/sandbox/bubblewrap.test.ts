import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { describeHere } from './here.ts'

describeHere('bubblewrap', openBubblewrap)
