BEGIN TRANSACTION;
CREATE TABLE about (
	version INTEGER NOT NULL
);
INSERT INTO "about" VALUES(1);
CREATE TABLE nights (
	date VARCHAR(10) NOT NULL, 
	began FLOAT NOT NULL, 
	ended FLOAT, 
	found INTEGER NOT NULL, 
	waiting INTEGER NOT NULL, 
	unlisted TEXT NOT NULL, 
	PRIMARY KEY (date)
);
INSERT INTO "nights" VALUES('2026-11-20',1795154400.0,1795154400.0,1,0,'[]');
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	place TEXT NOT NULL, 
	night VARCHAR(10) NOT NULL, 
	latest BOOLEAN NOT NULL, 
	told BOOLEAN NOT NULL, 
	stamp VARCHAR(32) NOT NULL, 
	content VARCHAR(32) NOT NULL, 
	tries INTEGER NOT NULL, 
	problem TEXT NOT NULL, 
	name TEXT NOT NULL, 
	verdict VARCHAR(16), 
	cause TEXT, 
	rule TEXT, 
	confidence FLOAT, 
	summary TEXT, 
	fingerprint VARCHAR(16), 
	culprits TEXT, 
	report TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(night) REFERENCES nights (date)
);
INSERT INTO "runs" VALUES(1,'/runs/old-bad','2026-11-20',1,1,'035b7b2ce270da0b3329398207b6fc28','e493056ce0e1443afb8186b7c4d724a7',0,'','old-bad','failed','user.exception','user-exception',0.83,'worker:1 raised KeyError: ''label''','15f18e4aa6ec9ff7','["worker:1"]','reports/old-bad-cfa6b185b2.html');
CREATE INDEX runs_place ON runs (place);
CREATE INDEX runs_night ON runs (night);
COMMIT;
