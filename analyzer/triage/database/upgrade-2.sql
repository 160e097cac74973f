-- From version 1 to version 2, for every supported database. A released upgrade never changes.
ALTER TABLE runs ADD COLUMN owner TEXT;
ALTER TABLE runs ADD COLUMN job TEXT;
ALTER TABLE runs ADD COLUMN started FLOAT;
ALTER TABLE runs ADD COLUMN ended FLOAT;
CREATE INDEX runs_fingerprint ON runs (fingerprint, night);
CREATE INDEX runs_job ON runs (job, started);
CREATE TABLE hosts (
  run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  workers INTEGER NOT NULL,
  culprits INTEGER NOT NULL
);
CREATE INDEX hosts_run ON hosts (run);
CREATE INDEX hosts_host ON hosts (host);
