/** R18 to R23 and R25 to R30 as properties: whatever happens in whatever order, the room stays consistent. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { ofType } from "../../support/steps.ts";
import { makeRoom, type TestRoom, type TestUser } from "../support/rooms.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { test } from "../support/with-storage.ts";
import { RoomSimulation, type Step } from "./simulation.ts";

const pick = fc.nat(9);
const userIndex = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  ofType(5, ["open"]),
  ofType(10, ["join"], { pick, user: userIndex, answerNow: fc.boolean() }),
  ofType(3, ["answer"]),
  ofType(4, ["leave", "close", "break", "ping", "message"], { pick }),
  ofType(2, ["wake"], { lose: fc.option(pick) }),
  ofType(4, ["crash", "sweep", "reconcile", "stall"]),
  ofType(1, ["closeRoom", "reopenRoom", "deleteRoom"]),
  ofType(1, ["deleteUser", "updateUser"], { user: userIndex }),
  ofType(4, ["advance"], { ms: fc.constantFrom(1, 900, 5_000, 10_000, 75_000) }),
);

test("sessions, stats and what clients receive agree, whatever happens (R18 to R23, R25 to R30)", ({
  reopen,
}) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60, size: "max" }),
      fc.constantFrom(0, 10_000),
      (steps, graceMs) => {
        reopen().clear();
        const simulation = new RoomSimulation(reopen, graceMs);
        for (const each of steps) simulation.run(each);
        simulation.finish();
      },
    ),
    { numRuns: 400 },
  );
});

test("a decision that is older than the deletion of its user does not let the user join (R18)", ({
  reopen,
}) => {
  const simulation = new RoomSimulation(reopen, 10_000);
  simulation.run({ type: "open" });
  simulation.run({ type: "join", pick: 0, user: 0, answerNow: false });
  simulation.run({ type: "deleteUser", user: 0 });
  simulation.run({ type: "answer" });
  simulation.run({ type: "answer" });
  simulation.finish();
});

test("no one notices a restart whose users come back within the grace, and who comes back later has left (R20, R75)", ({
  reopen,
}) => {
  const simulation = new RoomSimulation(reopen, 10_000);
  const joinAll = (users: readonly number[]) => {
    for (const user of users) {
      simulation.run({ type: "open" });
      simulation.run({ type: "join", pick: user, user, answerNow: true });
    }
  };
  joinAll([0, 1, 2]);
  const before = ["session.started", "participant.joined", "participant.joined", "participant.joined"];
  for (let restarts = 0; restarts < 3; restarts += 1) {
    simulation.run({ type: "crash" });
    simulation.run({ type: "advance", ms: 9_000 });
    simulation.run({ type: "sweep" });
    joinAll([0, 1, 2]);
    simulation.run({ type: "advance", ms: 20_000 });
    simulation.run({ type: "sweep" });
  }
  expect(simulation.recorded).toEqual(before);
  simulation.run({ type: "crash" });
  joinAll([0]);
  simulation.run({ type: "advance", ms: 10_000 });
  simulation.run({ type: "sweep" });
  expect(simulation.recorded.slice(before.length)).toEqual(["participant.left", "participant.left"]);
  simulation.finish();
});

/** Steps of a real object with two users. */
type RealStep =
  | { readonly type: "join" | "leave" | "close"; readonly user: number }
  | { readonly type: "hibernate" }
  | { readonly type: "reconcile" }
  | { readonly type: "silence" };

async function takeRealStep(
  room: TestRoom,
  users: readonly TestUser[],
  tabs: TestSocket[][],
  each: RealStep,
) {
  if (each.type === "hibernate") return room.hibernate();
  if (each.type === "reconcile") return void (await room.reconcile());
  if (each.type === "silence") {
    room.now += 80_000; // R25: after hibernation a socket may be dropped 5 s late
    await room.reconcile();
    for (const socket of tabs.flat()) expect(await socket.closed).toMatchObject({ code: 1001 });
    room.now += 10_000; // the grace
    await room.reconcile();
    for (const own of tabs) own.length = 0;
    return;
  }
  const [user, own] = [users[each.user], tabs[each.user]];
  if (user === undefined || own === undefined) return;
  if (each.type === "join") return void own.push(await room.join(user));
  const socket = own.shift();
  if (each.type === "leave") socket?.send({ type: "LEAVE_ROOM" });
  else socket?.close();
  await socket?.closed;
}

it("a real object agrees with its sockets, whatever happens (R19, R21, R25, R28, R30)", async () => {
  const realStep: fc.Arbitrary<RealStep> = fc.oneof(
    ofType(3, ["join", "join", "leave", "close"], { user: fc.nat(1) }),
    ofType(1, ["hibernate", "reconcile", "silence"]),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(realStep, { maxLength: 12, size: "max" }), async (steps) => {
      const room = await makeRoom();
      const users = [await room.user(), await room.user()];
      const tabs: TestSocket[][] = users.map(() => []);
      for (const each of steps) {
        await takeRealStep(room, users, tabs, each);
        const expected = users
          .filter((_, index) => (tabs[index]?.length ?? 0) > 0)
          .map(({ user: { id } }) => id);
        expect(await room.online(...users)).toEqual(expected);
        expect((await room.stats()).activeParticipants).toBe(expected.length);
      }
      expect((await room.reconcile()).previous).toBe((await room.stats()).activeParticipants);
    }),
    { numRuns: 15 },
  );
});
