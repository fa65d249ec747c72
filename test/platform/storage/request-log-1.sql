CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE requests ( seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, method TEXT NOT NULL, route TEXT NOT NULL, operation TEXT NOT NULL, status INTEGER NOT NULL, duration_ms REAL NOT NULL, credential TEXT NOT NULL, credential_id TEXT, room_id TEXT, error_code TEXT, error_message TEXT, address TEXT, weight REAL NOT NULL, client_request_id TEXT, trace_id TEXT );
INSERT INTO facts VALUES ('schema', '1');
INSERT INTO requests VALUES (1, 'request 1', 1795305600000, 'GET', '/rooms', 'listRooms', 200, 4.0, 'key', 'key', NULL, NULL, NULL, '203.0.113.0/24', 3.0, NULL, NULL);
INSERT INTO requests VALUES (2, 'request 2', 1795305600001, 'DELETE', '/rooms/:roomId', 'deleteRoom', 404, 7.0, 'user', 'user', 'room', 'NOT_FOUND', 'Room not found', NULL, 1.0, NULL, NULL);
CREATE INDEX requests_failed ON requests (seq) WHERE status >= 400;
CREATE INDEX requests_of_clients ON requests (client_request_id) WHERE client_request_id IS NOT NULL;
CREATE INDEX requests_of_traces ON requests (trace_id) WHERE trace_id IS NOT NULL;
