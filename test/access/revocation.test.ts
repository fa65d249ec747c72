/** Once the end of a right is answered, nothing later in the room's order was written by it, over any wire. */
import { env } from "cloudflare:workers";
import type { AppError } from "@atrium/contract/errors.ts";
import { ALL_RIGHTS, BAN } from "@atrium/contract/resources/permissions.ts";
import type { RoomAccessInput } from "@atrium/contract/rest/access.ts";
import { expect, inject, it, vi } from "vitest";
import { commitAs } from "../../src/features/users/queries.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { writerOf } from "../../src/platform/d1/rights.ts";
import { roomGateway } from "../../src/room/host/gateway.ts";
import { type Answer, account } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
import { permitLogged } from "../support/log-guard.ts";
import { type Random, randomOf } from "../support/random.ts";
import {
  END,
  enter,
  type KilledOutcome,
  type Outcome,
  type Place,
  raceWithKills,
  violationsOf,
  WIRES,
  type Wire,
} from "./races.ts";

const { seed, revocations } = inject("endurance");
/** Races of one user, bounded by the rate of joins to a room. */
const RACES_OF_USER = 16;
const RACES_BETWEEN_JOINS = 6;

/** A place whose user belongs to an identity. */
interface IdentityPlace extends Place {
  readonly identityId: string;
  readonly groupId: string;
}

/** A way to take a right away, and to give it back. */
interface Revocation {
  /** The access to the room that the right comes from. */
  readonly granted: (place: IdentityPlace) => RoomAccessInput;
  readonly revoke: (place: IdentityPlace) => Promise<Answer<unknown>>;
  readonly restore: (place: IdentityPlace) => Promise<Answer<unknown>>;
  /** True if it closes the sockets. */
  readonly closes?: boolean;
}

const putAccess = ({ owner, roomId }: Place, body: RoomAccessInput) =>
  owner.api.put(`/rooms/${roomId}/access`, body);

/** A change of the access from writing to something else. */
const byAccess = (to: (place: IdentityPlace) => RoomAccessInput, granted: Revocation["granted"]) => ({
  granted,
  revoke: (place: IdentityPlace) => putAccess(place, to(place)),
  restore: (place: IdentityPlace) => putAccess(place, granted(place)),
});

const ownEntry = ({ identityId }: IdentityPlace): RoomAccessInput => ({
  identitiesAccesses: { [identityId]: "editor" },
});
const groupEntry = ({ groupId }: IdentityPlace): RoomAccessInput => ({
  groupsAccesses: { [groupId]: "editor" },
});
const role =
  (name: string) =>
  ({ owner, roomId, userId }: Place) =>
    owner.api.patch(`/users/${userId}?roomId=${roomId}`, { role: name });
const membership =
  (method: "PUT" | "DELETE") =>
  ({ owner, groupId, identityId }: IdentityPlace) =>
    owner.api.send(method, `/groups/${groupId}/members/${identityId}`);
const nothing = ({ owner, roomId }: Place) => owner.api.get(`/rooms/${roomId}`);

const REVOCATIONS: Readonly<Record<string, Revocation>> = {
  "its role": { granted: ownEntry, revoke: role("viewer"), restore: role("editor") },
  "its own entry": byAccess(
    ({ identityId }) => ({ identitiesAccesses: { [identityId]: "viewer" } }),
    ownEntry,
  ),
  "a right of its group": byAccess(
    ({ groupId }) => ({ groupsAccesses: { [groupId]: "viewer" } }),
    groupEntry,
  ),
  "the entry of its group": byAccess(({ groupId }) => ({ groupsAccesses: { [groupId]: null } }), groupEntry),
  "its group": { granted: groupEntry, revoke: membership("DELETE"), restore: membership("PUT") },
  "the default": byAccess(
    () => ({ defaultAccesses: "viewer" }),
    () => ({ defaultAccesses: "editor" }),
  ),
  "a ban": {
    ...byAccess(({ identityId }) => ({ identitiesAccesses: { [identityId]: [BAN] } }), ownEntry),
    closes: true,
  },
  "its tokens": {
    granted: ownEntry,
    revoke: ({ owner, identityId }) => owner.api.delete(`/identities/${identityId}/tokens`),
    restore: nothing,
    closes: true,
  },
};

async function makePlace(granted: Revocation["granted"], random: Random): Promise<IdentityPlace> {
  const owner = await account();
  const { api } = owner;
  const { id: roomId } = await api.createRoom();
  const { identity } = (await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" })).data;
  const { group } = (await api.post<{ group: { id: string } }>("/groups", { name: "Writers" })).data;
  await api.put(`/groups/${group.id}/members/${identity.id}`);
  const body = { name: "Ada", roomId, identityId: identity.id };
  const { id: userId } = (await api.post<{ user: { id: string } }>("/users", body)).data.user;
  const bystander = (await api.createUser(roomId)).token;
  const ids = { roomId, userId, identityId: identity.id, groupId: group.id };
  const place = await withTokens({ owner, ...ids, bystander, token: "", socketToken: "" }, random);
  await putAccess(place, { defaultAccesses: "viewer", ...granted(place) });
  return place;
}

/** The place with tokens that are valid now. Sockets join by those of the user and of the identity alike. */
async function withTokens(place: IdentityPlace, random: Random): Promise<IdentityPlace> {
  const { owner, roomId, userId, identityId } = place;
  const { user } = (await owner.api.get<{ user: { token: string } }>(`/users/${userId}?roomId=${roomId}`))
    .data;
  const issued = (await owner.api.post<{ token: string }>(`/identities/${identityId}/tokens`)).data;
  return { ...place, token: user.token, socketToken: random(2) === 0 ? user.token : issued.token };
}

/** Races of one place. */
async function races(
  { granted, revoke, restore, closes = false }: Revocation,
  random: Random,
  count: number,
): Promise<Outcome[]> {
  let place = await makePlace(granted, random);
  let party = await enter(place, random);
  const outcomes: Outcome[] = [];
  while (outcomes.length < count) {
    if (closes && outcomes.length > 0) {
      party.close();
      place = await withTokens(place, random);
      party = await enter(place, random);
    }
    outcomes.push(await party.race(() => revoke(place)));
    await restore(place);
  }
  party.close();
  return outcomes;
}

type Tally = Record<Wire, { racing: number; accepted: number; late: number; acceptedLate: number }>;

/** How many writes over each wire began before and after the answer, and how many of them the room has. */
function tallyOf(outcomes: readonly Outcome[]): Tally {
  const ofWire = (wire: Wire) => {
    const tally = { racing: 0, accepted: 0, late: 0, acceptedLate: 0 };
    for (const { writes, seen } of outcomes)
      for (const { key, isLate } of writes.filter((write) => write.wire === wire)) {
        tally[isLate ? "late" : "racing"] += 1;
        if (seen[1]?.includes(key) === true) tally[isLate ? "acceptedLate" : "accepted"] += 1;
      }
    return tally;
  };
  return Object.fromEntries(WIRES.map((wire) => [wire, ofWire(wire)])) as Tally;
}

const kinds = Object.entries(REVOCATIONS);

it.each(kinds)(
  "no write over any wire follows the end of %s",
  async (name, revocation) => {
    const random = randomOf(seed + kinds.findIndex(([each]) => each === name));
    const outcomes: Outcome[] = [];
    const wanted = Math.ceil(revocations / kinds.length);
    const most = revocation.closes === true ? RACES_BETWEEN_JOINS : RACES_OF_USER;
    while (outcomes.length < wanted) {
      const raced = await races(revocation, random, Math.min(most, wanted - outcomes.length));
      expect(raced.flatMap(violationsOf)).toEqual([]);
      for (const { seen } of raced) expect(seen.flat()).toContain(END);
      outcomes.push(...raced);
    }
    console.log(`${wanted} ends of ${name} with seed ${seed}`, tallyOf(outcomes));
  },
  120_000 + revocations * 1_000,
);

/** Races with kills of one place: each has three joins, and may end the tokens. */
const KILLED_RACES_OF_USER = 4;

it.each(kinds)(
  "a room that is killed at any moment lets no one in by what it has stored after the end of %s",
  async (name, revocation) => {
    permitLogged(/crash|A command could not be relayed to its room yet|could not say whether a changed user/);
    const draw = vi.spyOn(Math, "random").mockReturnValue(0); // the shortest hold
    const random = randomOf(seed + kinds.findIndex(([each]) => each === name));
    const outcomes: KilledOutcome[] = [];
    const wanted = Math.ceil(revocations / kinds.length);
    let place = await makePlace(revocation.granted, random);
    while (outcomes.length < wanted) {
      if (outcomes.length > 0)
        place =
          outcomes.length % KILLED_RACES_OF_USER === 0
            ? await makePlace(revocation.granted, random)
            : await withTokens(place, random);
      outcomes.push(await raceWithKills(place, () => revocation.revoke(place), random));
      await revocation.restore(place);
    }
    draw.mockRestore();
    expect(outcomes.filter(({ wrote }) => wrote > 0)).toEqual([]);
    if (revocation.closes === true) expect(outcomes.filter(({ late }) => late > 0)).toEqual([]);
    const racing = outcomes.filter((outcome) => outcome.racing > 0).length;
    console.log(`${wanted} ends of ${name} with kills and seed ${seed}: ${racing} with a join meanwhile`);
  },
  120_000 + revocations * 3_000,
);

it("the same writes are accepted where no right ends", async () => {
  const control = { granted: ownEntry, revoke: nothing, restore: nothing };
  const tally = tallyOf(await races(control, randomOf(seed), 1));
  for (const { racing, accepted, late, acceptedLate } of Object.values(tally)) {
    expect([accepted, acceptedLate]).toEqual([racing, late]);
    expect(late).toBeGreaterThan(0);
  }
});

/** The outcomes of a write and of an upload that were authenticated before whatever has happened to the user since. */
async function writesOf(
  { owner, roomId, userId }: Pick<Place, "owner" | "roomId" | "userId">,
  epoch: number | null,
) {
  const tenant = openTenant(env, owner.id);
  const decided = {
    role: "editor",
    access: "outdated",
    roomState: "active",
    isByLastingToken: true,
  } as const;
  const actor = {
    ...({ type: "user", accountId: owner.id, userId, roomId, rights: ALL_RIGHTS } as const),
    ...{ identityId: null, isGuest: false, readsOnly: false },
    decided: { ...decided, identityEpoch: epoch },
  };
  const write = async () => {
    const data = { operations: [{ type: "STORE_SET", store: "tasks", key: "a", value: 1 }], atomic: true };
    const batches = [{ type: "STORE_BATCH", requestId: crypto.randomUUID(), data }];
    const user = writerOf({ actor });
    const [response] = await roomGateway(env).writeStores(roomId, owner.id, userId, batches, user);
    return response?.success === true ? "written" : response?.error?.code;
  };
  const upload = () =>
    commitAs({ ...tenant, actor }, "files", async (guard) => {
      await tenant.db.run([guard]);
      return "written";
    }).catch((error: AppError) => error.code);
  return [await write(), await upload()];
}

it("a request that was authenticated before the end of its identity's tokens writes nothing after it", async () => {
  const place = await makePlace(ownEntry, randomOf(seed));
  expect(await writesOf(place, 0)).toEqual(["written", "written"]);
  await REVOCATIONS["its tokens"]?.revoke(place);
  expect(await writesOf(place, 0)).toEqual(["UNAUTHORIZED", "UNAUTHORIZED"]);
});

it("a request of a user without an identity writes nothing after the answer that lowers its role", async () => {
  const owner = await account();
  const { id: roomId } = await owner.api.createRoom();
  const { id: userId, token } = await owner.api.createUser(roomId);
  const place = { owner, roomId, userId };
  expect(await writesOf(place, null)).toEqual(["written", "written"]);
  await owner.api.patch(`/users/${userId}?roomId=${roomId}`, { role: "viewer" });
  expect(await writesOf(place, null)).toEqual(["FORBIDDEN", "FORBIDDEN"]);
  await owner.api.patch(`/users/${userId}?roomId=${roomId}`, { role: "editor" });
  // The check costs no further trip: the room's row is read by it, and before by the authentication.
  const requests = [
    { requestId: "r", operations: [{ type: "STORE_SET", store: "s", key: "k", value: 1 }], atomic: true },
  ];
  const path = `/rooms/${roomId}/stores/batch`;
  const cost = await costOf({ api: owner.api.as(token) }, "POST", path, { requests });
  expect(cost).toMatchObject({ status: 200, trips: 1 });
  await owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
  expect((await writesOf(place, null))[0]).toBe("FORBIDDEN");
  await owner.api.delete(`/users/${userId}?roomId=${roomId}`);
  expect((await writesOf(place, null))[0]).toBe("UNAUTHORIZED");
});
