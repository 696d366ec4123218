-- The state of a folder: what happened (journal), what is (agents), and what is still to be done.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  status     TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  config     TEXT NOT NULL,
  checksum   INTEGER NOT NULL
) STRICT;

-- The fold of each agent's rows. `rest` holds what is not looked up by. Every `checksum` is over the
-- other columns of its row: SQLite notices a damaged page, not a damaged value on it.
CREATE TABLE agents (
  key      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  run      INTEGER NOT NULL REFERENCES runs (key),
  role     TEXT NOT NULL,
  machine  TEXT NOT NULL,
  state    TEXT,
  seq      INTEGER NOT NULL,
  rest     TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX agents_by_run ON agents (run);

-- What rows say over and over, once each.
CREATE TABLE steps (
  key        INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  event_type TEXT NOT NULL,
  from_state TEXT,
  to_state   TEXT,
  move       TEXT,
  checksum   INTEGER NOT NULL
) STRICT;

-- Append-only. Rows are read by run. An index by agent would cost every commit a page for each agent
-- in it: that no row of an agent is written twice is kept by its snapshot, whose `seq` only rises.
-- A step that is not there is noticed when its row is read.
CREATE TABLE journal (
  seq        INTEGER PRIMARY KEY,
  run        INTEGER NOT NULL,
  agent      INTEGER NOT NULL REFERENCES agents (key),
  agent_seq  INTEGER NOT NULL,
  at_ms      INTEGER NOT NULL,
  step       INTEGER NOT NULL,
  event_id   TEXT NOT NULL,
  body       TEXT NOT NULL,
  checksum   INTEGER NOT NULL
) STRICT;
CREATE INDEX journal_by_run ON journal (run, seq);

-- Ids of events from outside, for good: a repeated one changes nothing.
CREATE TABLE accepted (
  event_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The rest is open work: a row goes when its work is done.
CREATE TABLE inbox (
  place   INTEGER PRIMARY KEY,
  agent   INTEGER NOT NULL REFERENCES agents (key),
  id      TEXT NOT NULL,
  type    TEXT NOT NULL,
  payload TEXT NOT NULL,
  at_ms   INTEGER NOT NULL,
  urgent  INTEGER NOT NULL,
  tries   INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_by_agent ON inbox (agent, place);

CREATE TABLE effects (
  id       TEXT PRIMARY KEY,
  agent    INTEGER NOT NULL REFERENCES agents (key),
  kind     TEXT NOT NULL,
  input    TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  waiting  INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE timers (
  agent  INTEGER NOT NULL REFERENCES agents (key),
  name   TEXT NOT NULL,
  epoch  INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (agent, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_by_due ON timers (due_ms);

-- Until when each service asked to be left alone, last. One that is past stays until the next.
CREATE TABLE closures (
  service  TEXT PRIMARY KEY,
  until_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
