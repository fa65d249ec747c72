CREATE TABLE events ( seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, event TEXT NOT NULL, room_id TEXT NOT NULL, occurred_at INTEGER NOT NULL, logged_at INTEGER NOT NULL, body TEXT NOT NULL );
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log ( only_row INTEGER PRIMARY KEY CHECK (only_row = 1), last_seq INTEGER NOT NULL, last_at INTEGER NOT NULL, pruned_seq INTEGER NOT NULL, bytes INTEGER NOT NULL );
CREATE TABLE spans ( at INTEGER PRIMARY KEY, events INTEGER NOT NULL, runs INTEGER NOT NULL, failed_runs INTEGER NOT NULL );
INSERT INTO events VALUES (4, 'event 4', 'user.created', 'room', 1795305600000, 1795305600001, '{"number":4,"name":"Zoë"}');
INSERT INTO events VALUES (5, 'event 5', 'user.created', 'room', 1795305600000, 1795305600001, '{"number":5,"name":"Zoë"}');
INSERT INTO facts VALUES ('schema', '1');
INSERT INTO log VALUES (1, 5, 1795305600001, 3, 652);
CREATE INDEX events_by_room ON events (room_id, seq);
