/** The migration that begins to count quotas: it fills the counts of what exists. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";

const MIGRATIONS = path.join(import.meta.dirname, "../../migrations");
const files = globSync("*.sql", { cwd: MIGRATIONS }).sort();
const first = files.findIndex((file) => file.endsWith("_quotas.sql"));

const migrate = (db: DatabaseSync, names: readonly string[]) => {
  for (const name of names) db.exec(readFileSync(path.join(MIGRATIONS, name), "utf8"));
};

it("counts what organizations had before, and goes on from there", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, files.slice(0, first));
  db.exec(`
    INSERT INTO accounts (id, name, created_at) VALUES ('a', 'Full', 1), ('b', 'Empty', 2);
    INSERT INTO rooms (account_id, id, name, name_folded, state, created_at)
      VALUES ('a', 'r1', 'One', 'ONE', 'active', 1), ('a', 'r2', 'Two', 'TWO', 'active', 1);
    UPDATE rooms SET active_participants = 3 WHERE id = 'r1';
    INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
      VALUES ('u', 'a', 'r1', 'Ada', 'ADA', 'editor', 1);
    INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
      VALUES ('k1', 'a', 'r1', 'f', 'text/plain', 'text/plain', 5, 'u', 1, 'stored'),
             ('k2', 'a', 'r1', 'f', 'text/plain', 'text/plain', 7, 'u', 1, 'deleting');
    INSERT INTO people (id, name, email, created_at, updated_at) VALUES ('p', 'Bo', 'bo@example.com', 1, 1);
    INSERT INTO memberships (account_id, person_id, role, joined_at) VALUES ('a', 'p', 'owner', 1);
    INSERT INTO invitations (id, account_id, role, token_hash, created_at, expires_at)
      VALUES ('i1', 'a', 'member', 'h1', 1, 2), ('i2', 'a', 'member', 'h2', 1, 2);
    INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at)
      VALUES ('k', 'a', 'Key', 'h', '', '', 1);`);
  migrate(db, files.slice(first));
  const usesOf = (accountId: string) =>
    Object.fromEntries(
      db
        .prepare("SELECT quota, used FROM quotas WHERE account_id = ?")
        .all(accountId)
        .map(({ quota, used }) => [quota, used]),
    );
  const nothing = {
    rooms: 0,
    users: 0,
    webhooks: 0,
    workflows: 0,
    members: 0,
    invitations: 0,
    api_keys: 0,
    file_bytes: 0,
    store_bytes: 0,
    online_users: 0,
    online_rooms: 0,
    waiting_events: 0,
    waiting_bytes: 0,
    backlogs: 0,
    requests_per_second: 0,
  };
  expect(usesOf("a")).toEqual({
    ...nothing,
    rooms: 2,
    users: 1,
    members: 1,
    invitations: 2,
    api_keys: 1,
    file_bytes: 5,
    online_users: 3,
    online_rooms: 1,
  });
  expect(db.prepare("SELECT name, email FROM memberships").get()).toEqual({
    name: "Bo",
    email: "bo@example.com",
  });
  expect(usesOf("b")).toEqual(nothing);
  db.exec("DELETE FROM rooms WHERE id = 'r1'; UPDATE files SET state = 'deleting' WHERE key = 'k1'");
  db.exec("DELETE FROM people; DELETE FROM invitations WHERE id = 'i1'; DELETE FROM api_keys");
  expect(usesOf("a")).toEqual({ ...nothing, rooms: 1, invitations: 1 });
});
