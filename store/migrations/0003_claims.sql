-- Which instance a kept conversation is open in.
CREATE TABLE claims (
  session  TEXT PRIMARY KEY,
  instance TEXT NOT NULL
) STRICT, WITHOUT ROWID;
