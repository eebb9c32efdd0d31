-- The trail. Empty fields are NULL; time is microseconds since 1970 UTC; effects is a JSON array.
CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY,
  time      INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  call      TEXT,
  instance  TEXT,
  caller    TEXT,
  "group"   TEXT,
  role      TEXT,
  session   TEXT,
  parent    TEXT,
  channel   TEXT,
  tool      TEXT,
  effects   TEXT,
  command   TEXT,
  cwd       TEXT,
  args      TEXT,
  verdict   TEXT,
  rule      TEXT,
  reason    TEXT,
  status    TEXT,
  exit_code INTEGER,
  detail    TEXT,
  prev      TEXT,
  hash      TEXT NOT NULL
) STRICT;

-- The last record of the trail, so that a removed end shows.
CREATE TABLE head (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  seq  INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;
INSERT INTO head VALUES (1, 0, '');

-- Processes at work. first_seq is the trail's last record when the instance began: its own come after it.
CREATE TABLE instances (
  id         TEXT PRIMARY KEY,
  pid        INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  first_seq  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
