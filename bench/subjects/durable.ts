/** The subjects of the journal benchmark that consist of the product's own code. */
export { openRawSqlite } from './raw-sqlite.ts'
export { openSlipway } from './slipway.ts'
