-- Conversations, one row a message; time is microseconds since 1970 UTC.
CREATE TABLE messages (
  session TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  role    TEXT NOT NULL,
  json    TEXT NOT NULL,
  time    INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- What models cost, by day (2006-01-02).
CREATE TABLE tokens (
  day   TEXT PRIMARY KEY,
  spent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
