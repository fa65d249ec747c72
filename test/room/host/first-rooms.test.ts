/** The first rooms of an isolate, which load the engine of all. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

it("rooms that an isolate begins with load the engine together, and answer once they have it", async () => {
  const accountId = crypto.randomUUID();
  const rooms = Array.from({ length: 10 }, () => env.ROOMS.getByName(crypto.randomUUID()));
  const read = await Promise.all(rooms.map((room) => room.read(accountId, [])));
  expect(read.map(({ stats }) => stats.activeParticipants)).toEqual(Array(10).fill(0));
});
