/** R18 to R23 and R25 to R30 as properties: whatever happens in whatever order, the room stays true. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { planAlarm } from "../../../src/realtime/transport/deadlines.ts";
import { Simulation, type Step } from "./simulation.ts";
import { type TestUser, makeRoom, type TestRoom } from "../support/rooms.ts";
import type { TestSocket } from "../support/test-socket.ts";

const pick = fc.nat(9);
const user = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant("open" as const) }) },
  {
    weight: 10,
    arbitrary: fc.record({ type: fc.constant("join" as const), pick, user, answerNow: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("answer" as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom("leave", "close", "ping", "talk"), pick }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("wake" as const), lose: fc.option(pick) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom("crash", "sweep", "reconcile", "stall") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("closeRoom", "reopenRoom", "deleteRoom") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("deleteUser", "updateUser"), user }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 900, 5_000, 10_000, 75_000),
    }),
  },
);

it("sessions, counter, occupied time and what members hear agree, whatever happens (R18 to R23, R25 to R30)", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const simulation = new Simulation();
      for (const each of steps) simulation.run(each);
      simulation.finish();
    }),
    { numRuns: 400 },
  );
});

it("an answer about a user that is older than its deletion does not let it in (R18)", () => {
  const simulation = new Simulation();
  simulation.run({ type: "open" });
  simulation.run({ type: "join", pick: 0, user: 0, answerNow: false });
  simulation.run({ type: "deleteUser", user: 0 });
  simulation.run({ type: "answer" });
  simulation.run({ type: "answer" });
  simulation.finish();
});

it("the next alarm is the earliest of what is due, and 60 s ahead at most while somebody is online (R2, R25, R31)", () => {
  const joined = (lastSeenAt: number) =>
    ({
      phase: "joined",
      id: "a",
      userId: "u",
      role: "editor",
      tokenExpiresAt: 1e15,
      lastSeenAt,
      savedLastSeenAt: 0,
      batch: false,
      subscriptions: [],
      presence: null,
      frameTokens: 1,
      frameTokensAt: 0,
    }) as const;
  expect(planAlarm(100_000, [])).toBeNull();
  expect(planAlarm(100_000, [{ phase: "waiting", id: "a", openedAt: 95_000 }])).toBe(105_000);
  expect(planAlarm(100_000, [joined(100_000)])).toBe(160_000);
  expect(planAlarm(100_000, [joined(100_000), joined(40_000)])).toBe(115_000);
});

/** What can happen to a real object between two of its users. */
type RealStep =
  | { readonly type: "join" | "leave" | "close"; readonly user: number }
  | { readonly type: "hibernate" }
  | { readonly type: "reconcile" }
  | { readonly type: "silence" };

async function takeRealStep(
  room: TestRoom,
  members: readonly TestUser[],
  tabs: TestSocket[][],
  each: RealStep,
) {
  if (each.type === "hibernate") return room.hibernate();
  if (each.type === "reconcile") return void (await room.reconcile());
  if (each.type === "silence") {
    room.now += 80_000; // R25: after hibernation a socket may be dropped 5 s late
    await room.reconcile();
    for (const socket of tabs.flat()) expect(await socket.closed).toMatchObject({ code: 1001 });
    for (const own of tabs) own.length = 0;
    return;
  }
  const [member, own] = [members[each.user], tabs[each.user]];
  if (member === undefined || own === undefined) return;
  if (each.type === "join") return void own.push(await room.join(member));
  const socket = own.shift();
  if (each.type === "leave") socket?.send({ type: "LEAVE_ROOM" });
  else socket?.close();
  await socket?.closed;
}

it("the real object agrees with its sockets, whatever happens (R19, R21, R25, R28, R30)", async () => {
  const realStep: fc.Arbitrary<RealStep> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constantFrom("join", "join", "leave", "close"), user: fc.nat(1) }),
    },
    fc.constantFrom({ type: "hibernate" }, { type: "reconcile" }, { type: "silence" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(realStep, { maxLength: 12, size: "max" }), async (steps) => {
      const room = await makeRoom();
      const members = [await room.user(), await room.user()];
      const tabs: TestSocket[][] = members.map(() => []);
      for (const each of steps) {
        await takeRealStep(room, members, tabs, each);
        const expected = members
          .filter((_, index) => (tabs[index]?.length ?? 0) > 0)
          .map(({ user: { id } }) => id);
        expect(await room.online(...members)).toEqual(expected);
        expect((await room.stats()).activeParticipants).toBe(expected.length);
      }
      expect((await room.reconcile()).previous).toBe((await room.stats()).activeParticipants);
    }),
    { numRuns: 15 },
  );
});
