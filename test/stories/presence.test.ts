/** Users join a room with several connections; the REST API shows them as participants and remembers their sessions. */
import { beforeAll, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { Customer } from "./client.ts";

let service: SharedService;

beforeAll(async () => {
  service = await useSharedService();
});

it("counts users, not connections, and remembers each session", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const [ada, ben] = [await customer.createUser(room.id, "Ada"), await customer.createUser(room.id, "Ben")];

  const first = await customer.join(ada);
  expect(first.messages[0]).toMatchObject({ success: true, data: { role: "editor", user: { id: ada.id } } });
  const second = await customer.join(ada);
  const bens = await customer.join(ben);
  const live = await customer.getRoom(room.id);
  expect(live.room.active_participants).toBe(2);
  expect(live.users.map(({ status }) => status)).toEqual(["online", "online"]);
  await eventually(
    "the list of rooms is up to date",
    async () => (await customer.listedRoom(room.id))?.active_participants === 2,
  );

  first.socket.close();
  await first.closed;
  second.send("LEAVE_ROOM");
  expect((await second.closed).code).toBe(1000);
  await eventually("Ben receives the event", () => bens.messages.some(({ event }) => event === "userLeft"));
  const { user, sessions } = await customer.getUser(ada);
  expect(user.status).toBe("offline");
  expect(sessions).toHaveLength(1);
  expect(Date.parse(sessions[0]?.left_at ?? "")).toBeGreaterThanOrEqual(Date.parse(user.joined_at ?? ""));
  expect(bens.messages.filter(({ type }) => type === "event").map(({ event }) => event)).toEqual([
    "userLeft",
  ]);

  await customer.send("PATCH", `/rooms/${room.id}`, { state: "closed" });
  expect((await bens.closed).code).toBe(4403);
  expect((await (await customer.join(ada)).closed).code).toBe(4403);
  expect((await customer.getRoom(room.id)).room).toMatchObject({ state: "closed", active_participants: 0 });
});

it("refuses the address of another organization, and a request without an upgrade", async () => {
  const customer = new Customer(service, service);
  const stranger = new Customer(service, await useSharedService());
  const room = await customer.createRoom();
  const user = await customer.createUser(room.id);
  const foreign = `${stranger.base}/rooms/${room.id}/socket`;
  expect((await fetch(foreign)).status).toBe(404);
  expect((await fetch(`${customer.base}/rooms/${room.id}/socket`)).status).toBe(400);
  const refused = new WebSocket(foreign.replace("http", "ws"));
  await new Promise((resolve) => refused.addEventListener("error", resolve));
  const tab = await customer.join({ ...user, token: `${user.token.slice(0, -1)}!` });
  expect((await tab.closed).code).toBe(4401);
  expect(tab.messages.map(({ event }) => event)).toContain("authFailed");
});

it("disconnects users when they or their room are deleted", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const [ada, ben] = [await customer.createUser(room.id, "Ada"), await customer.createUser(room.id, "Ben")];
  const [atAda, atBen] = [await customer.join(ada), await customer.join(ben)];
  await customer.send("PATCH", `/users/${ada.id}?roomId=${room.id}`, { name: "Ada L." });
  await customer.send("DELETE", `/users/${ada.id}?roomId=${room.id}`);
  expect((await atAda.closed).code).toBe(4401);
  expect(atAda.messages.at(-1)?.event).toBe("authFailed");
  expect((await (await customer.join(ada)).closed).code).toBe(4401);
  await customer.send("DELETE", `/rooms/${room.id}`);
  expect((await atBen.closed).code).toBe(4404);
  const events = atBen.messages.filter(({ type }) => type === "event");
  expect(events.map(({ event }) => event)).toEqual(["userUpdated", "userLeft", "userDeleted"]);
  expect(events[0]?.data).toMatchObject({ userId: ada.id, user: { name: "Ada L.", status: "online" } });
});

it("counts correctly while users come and go and the counter is reconciled all the time", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const users = await Promise.all(Array.from({ length: 20 }, (_, i) => customer.createUser(room.id, `${i}`)));
  let isOver = false;
  const reconciling = (async () => {
    const counts: number[] = [];
    while (!isOver) {
      const { data } = await customer.send<{ reconciled_active_participants: number }>(
        "POST",
        `/rooms/${room.id}/reconcile`,
      );
      counts.push(data.reconciled_active_participants);
    }
    return counts;
  })();
  const stays = await Promise.all(
    users.map(async (user, i) => {
      const tab = await customer.join(user);
      expect(tab.messages[0]?.success).toBe(true);
      if (i % 2 === 0) return tab;
      tab.send("LEAVE_ROOM");
      await tab.closed;
      return null;
    }),
  );
  isOver = true;
  for (const count of await reconciling) expect(count).toBeLessThanOrEqual(users.length);
  const online = stays.filter((tab) => tab !== null).length;
  expect((await customer.getRoom(room.id)).room.active_participants).toBe(online);
  const { data } = await customer.send("POST", `/rooms/${room.id}/reconcile`);
  expect(data).toMatchObject({
    previous_active_participants: online,
    reconciled_active_participants: online,
  });
  expect((await customer.listedRoom(room.id))?.active_participants).toBe(online);
});
