-- From version 4 to version 5, for every supported database. A released upgrade never changes.
ALTER TABLE runs ADD COLUMN files INTEGER;
ALTER TABLE nights ADD COLUMN listed BOOLEAN;
