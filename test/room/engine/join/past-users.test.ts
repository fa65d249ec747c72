/** A join costs the same in a room that very many users have joined before. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { recordCursors } from "../../../support/recorded-cursors.ts";
import { rowsReadBy } from "../../../support/rows-read.ts";
import { makeRoom } from "../../support/rooms.ts";

const PAST_USERS = 100_000;
const AT_ONCE = 10_000;

/**
 * Cost of a join after this many users: rows read in D1 and in the object's own database, and characters of the
 * response.
 */
async function costOfJoin(pastUsers: number) {
  const room = await makeRoom();
  const user = await room.user();
  (await room.join(user)).close();
  await room.alarm();
  for (let from = 0; from < pastUsers; from += AT_ONCE) {
    const numbers = `WITH RECURSIVE numbers (n) AS
      (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers LIMIT ${Math.min(AT_ONCE, pastUsers - from)})`;
    await env.DB.prepare(
      `${numbers} INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT ?1 || n, ?2, ?1, 'Past', 'PAST', 'editor', n FROM numbers`,
    )
      .bind(room.id, room.accountId)
      .run();
    await room.inside((_, { storage }) =>
      storage.sql.exec(
        `${numbers} INSERT INTO sessions (id, user_id, joined_at, left_at) SELECT 'past ' || n, ? || n, 1, 2 FROM numbers`,
        room.id,
      ),
    );
  }
  await room.hibernate();
  const cursors = await room.inside((_, { storage: { sql } }) => recordCursors(sql));
  let response = "";
  const inD1 = await rowsReadBy(async () => {
    const socket = await room.join(user);
    response = JSON.stringify(socket.joined);
    socket.close();
  });
  const inObject = cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  await env.DB.prepare("DELETE FROM accounts WHERE id = ?").bind(room.accountId).run();
  return { inD1, inObject, characters: response.length };
}

it("a join of a room with 100,000 past users costs what one with ten does", async () => {
  const [few, many] = [await costOfJoin(10), await costOfJoin(PAST_USERS)];
  expect(few.inObject).toBeGreaterThan(0);
  expect(many.inD1).toBeLessThanOrEqual(few.inD1 + 5);
  expect(many.inObject).toBeLessThanOrEqual(few.inObject + 5);
  expect(many.characters).toBeLessThanOrEqual(few.characters + 50);
});
