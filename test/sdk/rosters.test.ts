/** Who is online, for a client of a room whose users come page by page (R84), whatever happens between two pages. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";

const PEOPLE = Array.from({ length: 12 }, (_, index) => ({
  id: `user ${index}`,
  room_id: "room",
  name: `User ${index}`,
  created_at: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(),
  role: "editor" as const,
  status: "offline" as const,
}));

type Step = { readonly type: "come or go"; readonly who: number } | { readonly type: "up" | "down" | "cut" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("come or go" as const), who: fc.nat(PEOPLE.length - 1) }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constantFrom("up" as const, "down" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cut" as const) }) },
);

function comeOrGo(room: ModelRoom, who: number): void {
  const user = PEOPLE[who];
  if (user === undefined) throw new Error("There is no such user");
  if (room.online.some(({ id }) => id === user.id)) room.leave(user);
  else room.come(user);
}

/** Who is online according to the events since the first join: each says something new. */
function followEvents({ client: { users } }: ModelClient): { online: Set<string> | null } {
  const followed: { online: Set<string> | null } = { online: null };
  users.on("userJoined", ({ id }) => {
    expect(followed.online?.has(id)).toBe(false);
    followed.online?.add(id);
  });
  users.on("userLeft", ({ id }) => expect(followed.online?.delete(id)).toBe(true));
  return followed;
}

async function reconnect(client: ModelClient): Promise<void> {
  client.clock.advance(10_000);
  await settle();
}

it("is the same as in the room, and each event says what is new (R11, R84)", async () => {
  const steps = fc.array(step, { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(fc.nat(PEOPLE.length), steps, async (comeFirst, lived) => {
      const room = new ModelRoom();
      room.users = [...PEOPLE].reverse();
      for (let who = 0; who < comeFirst; who += 1) comeOrGo(room, who);
      const client = new ModelClient(room, "ada");
      const { users } = client.client;
      const followed = followEvents(client);
      void client.client.join().then(() => {
        followed.online = new Set(users.online.keys());
      });
      await settle();
      for (const each of lived) {
        if (each.type === "come or go") comeOrGo(room, each.who);
        else if (each.type === "cut") client.socket?.cut();
        else if (each.type === "up") client.socket?.deliverUp();
        else client.socket?.deliverDown();
        await settle();
        if (!client.socket?.isOpen) await reconnect(client);
      }
      // One by one: what is first known when join() resolves is known before the next event.
      while (client.socket?.deliverUp() || client.deliverDown()) await settle();
      const online = room.online.map(({ id }) => id).sort();
      expect([...users.online.keys()].sort()).toEqual(online);
      expect([...(followed.online ?? [])].sort()).toEqual(online);
      expect(users.getAll().filter(({ status }) => status === "online")).toHaveLength(online.length);
      client.client.disconnect();
    }),
  );
});

it("is complete when join() resolves, and fills in page by page before (R84)", async () => {
  const room = new ModelRoom();
  for (let who = 0; who < 8; who += 1) comeOrGo(room, who);
  const client = new ModelClient(room, "ada");
  const { users } = client.client;
  const sizes: number[] = [];
  users.on("updated", () => sizes.push(users.online.size));
  let joined: number | null = null;
  void client.client.join().then(() => {
    joined = users.online.size;
  });
  await settle();
  await client.deliverAll();
  expect(joined).toBe(8);
  expect(sizes).toEqual([3, 6, 8]);
  client.client.disconnect();
});
