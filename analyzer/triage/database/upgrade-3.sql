-- From version 2 to version 3, for every supported database. A released upgrade never changes.
ALTER TABLE runs ADD COLUMN root TEXT;
ALTER TABLE runs ADD COLUMN address TEXT;
CREATE TABLE acknowledgements (
  fingerprint VARCHAR(16) NOT NULL PRIMARY KEY,
  until VARCHAR(10),
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  muted BOOLEAN NOT NULL,
  created FLOAT
);
CREATE TABLE events (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  night VARCHAR(10) NOT NULL,
  payload TEXT NOT NULL
);
CREATE INDEX events_night ON events (night);
CREATE TABLE deliveries (
  event VARCHAR(64) NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  channel VARCHAR(32) NOT NULL,
  delivered FLOAT,
  tries INTEGER NOT NULL,
  problem TEXT NOT NULL,
  PRIMARY KEY (event, channel)
);
