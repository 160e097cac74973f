-- From version 3 to version 4, for every supported database. A released upgrade never changes.
ALTER TABLE runs ADD COLUMN rules VARCHAR(32);
ALTER TABLE runs ADD COLUMN rule_digest VARCHAR(32);
ALTER TABLE hosts ADD COLUMN role VARCHAR(16);
