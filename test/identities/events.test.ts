/** Events of identities and groups, which belong to no room: causes, receivers, and erasure. */
import { env } from "cloudflare:workers";
import { GroupEvent, IdentityEvent } from "@atrium/contract/resources/events.ts";
import { ERASED_IDENTITY, type Group, type Identity } from "@atrium/contract/resources/identity.ts";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { newEvent } from "../../src/delivery/outbox/event-store.ts";
import { IDENTITIES } from "../../src/features/identities/store.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { type Account, account } from "../support/api.ts";
import { eventsWaiting, untilRelayed } from "../support/relayed.ts";

const MINUTE_MS = 60_000;
const OwnEvent = z.discriminatedUnion("event", [IdentityEvent, GroupEvent]);
const events = [IdentityEvent, GroupEvent].flatMap(({ shape }) => shape.event.options);

let owner: Account;

beforeEach(async () => {
  owner = await account();
});

const identify = async (fields: object = {}): Promise<Identity> =>
  (await owner.api.post<{ identity: Identity }>("/identities", { name: "Ada", ...fields })).data.identity;

const makeGroup = async (): Promise<Group> =>
  (await owner.api.post<{ group: Group }>("/groups", { name: "Designers" })).data.group;

const logged = async (query = ""): Promise<EventPage["events"]> =>
  (await owner.api.get<EventPage>(`/events${query}`)).data.events;

async function receivedBy(subscriber: RecordingSubscriber, count: number) {
  await expect.poll(async () => (await subscriber.received()).length).toBe(count);
  return (await subscriber.received()).map(({ body }) => OwnEvent.parse(JSON.parse(body)));
}

const rowsLeft = () => eventsWaiting(owner.id);

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

const stamped = (event: object) => ({ id: expect.any(String), timestamp: expect.any(String), ...event });

describe("a change of an identity or a group", () => {
  it("reaches the webhooks of all rooms and the log, each in order and without a room", async () => {
    const room = await owner.api.createRoom();
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const ofRoom = await RecordingSubscriber.create(owner.api, { events, roomId: room.id });
    const ada = await identify({ email: "ada@example.com", customId: "ada" });
    await owner.api.patch(`/identities/${ada.id}`, { name: "Ada L.", customId: null });
    const team = await makeGroup();
    await owner.api.put(`/groups/${team.id}/members/${ada.id}`);
    await owner.api.patch(`/groups/${team.id}`, { name: "Design" });
    await owner.api.delete(`/groups/${team.id}/members/${ada.id}`);
    await owner.api.delete(`/groups/${team.id}`);
    const { custom_id: _, ...renamed } = { ...ada, name: "Ada L." };
    const [ofAda, ofTeam] = [{ identityId: ada.id }, { groupId: team.id }];
    const design = { ...team, name: "Design" };
    const [identityEvents, groupEvents] = [
      [
        { event: "identity.created", data: ofAda, identity: ada },
        { event: "identity.updated", data: ofAda, identity: renamed },
      ].map(stamped),
      [
        { event: "group.created", data: ofTeam, group: team },
        { event: "group.updated", data: { ...ofTeam, ...ofAda }, group: team },
        { event: "group.updated", data: ofTeam, group: design },
        { event: "group.updated", data: { ...ofTeam, ...ofAda }, group: design },
        { event: "group.deleted", data: ofTeam, group: design },
      ].map(stamped),
    ];
    const received = await receivedBy(subscriber, 7);
    expect(received.filter((event) => "identity" in event)).toEqual(identityEvents);
    expect(received.filter((event) => "group" in event)).toEqual(groupEvents);
    expect(await ofRoom.received()).toEqual([]);
    const all = await logged();
    expect(all.filter(({ event }) => event !== "room.created").toSorted(byId)).toEqual(
      received.toSorted(byId),
    );
    expect(await logged("?events=identity.created&events=identity.updated")).toEqual(identityEvents);
    const ends = await logged("?events=group.created&events=group.deleted");
    expect(ends).toEqual([groupEvents[0], groupEvents[4]]);
    await untilRelayed(owner.id);
  });

  it("emits nothing when it changes nothing, fails, or concerns what does not exist", async () => {
    const [ada, bo] = [await identify({ customId: "ada" }), await identify({ name: "Bo" })];
    const [team, stranger] = [await makeGroup(), await account()];
    const member = `/groups/${team.id}/members/${ada.id}`;
    await owner.api.put(member);
    const missing = crypto.randomUUID();
    const before = await logged();
    const answers = [
      await owner.api.patch(`/identities/${ada.id}`, { name: "Ada", customId: "ada" }),
      await owner.api.patch(`/groups/${team.id}`, { name: "Designers" }),
      await owner.api.put(member),
      await owner.api.patch(`/identities/${bo.id}`, { name: "Bob", customId: "ada" }),
      await owner.api.post("/identities", { name: "Eve", customId: "ada" }),
      await owner.api.put(`/groups/${team.id}/members/${missing}`),
      await owner.api.delete(`/groups/${team.id}/members/${bo.id}`),
      await owner.api.delete(`/groups/${missing}`),
      await stranger.api.patch(`/identities/${ada.id}`, { name: "Hijacked" }),
      await stranger.api.delete(`/identities/${ada.id}`),
      await stranger.api.put(member),
      await stranger.api.delete(member),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      ...[200, 200, 200, 409, 409],
      ...[404, 404, 404, 404, 404, 404, 404],
    ]);
    expect(before).toHaveLength(4);
    expect(await logged()).toEqual(before);
  });
});

describe("a deleted identity", () => {
  const secret = { name: "Lovelace", customId: "byron-1", email: "lovelace@example.com" };
  const profilePicture = "https://pictures.test/lovelace.png";
  const left = async () => JSON.stringify(await logged()).match(/lovelace|byron-1/gi) ?? [];

  it("is erased from the log and from what waits, and stays an ID", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: ["identity.deleted"] });
    const [ada, bo] = [await identify({ ...secret, profilePicture }), await identify({ name: "Bo" })];
    await owner.api.patch(`/identities/${ada.id}`, { name: "A. Lovelace" });
    const tenant = openTenant(env, owner.id);
    // Only the cron trigger relays it: it is no event that the deletion finds left behind.
    const ports = { newId: () => crypto.randomUUID(), now: () => Date.now() + MINUTE_MS / 2, trace: null };
    const waiting = newEvent(ports, "identity.updated", ada.id);
    await tenant.db.run([IDENTITIES.insertEvent(tenant, waiting, { name: "Lady Lovelace" })]);
    expect(await left()).not.toEqual([]);
    expect((await owner.api.delete(`/identities/${ada.id}`)).data).toEqual({ pending_rooms: 0 });
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    const { custom_id: _, profile_picture: __, email: ___, ...shown } = ada;
    const identity = { ...shown, name: "Deleted user" };
    const data = { identityId: ada.id };
    expect(await receivedBy(subscriber, 1)).toEqual([stamped({ event: "identity.deleted", data, identity })]);
    expect(await left()).toEqual([]);
    const kept = (await logged()).map((event) => "identity" in event && event.identity);
    expect(kept).toHaveLength(5);
    expect(kept.filter((one) => one && one.id !== ada.id)).toEqual([bo]);
    expect(kept.filter((one) => one && one.id === ada.id)).toEqual([identity, identity, identity, identity]);
    expect(await rowsLeft()).toBe(0);
  });

  it("is erased by the cron trigger when the request dies after its commit", async () => {
    const ada = await identify({ ...secret, profilePicture });
    const tenant = openTenant(env, owner.id);
    const ports = { newId: () => crypto.randomUUID(), now: Date.now, trace: null };
    const entry = newEvent(ports, "identity.deleted", ada.id);
    await tenant.db.run([
      IDENTITIES.insertEvent(tenant, entry, null, ERASED_IDENTITY),
      IDENTITIES.remove(tenant, ada.id),
    ]);
    expect(await left()).not.toEqual([]);
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    expect(await left()).toEqual([]);
    expect((await logged()).map(({ id, event }) => [id === entry.id, event])).toEqual([
      [false, "identity.created"],
      [true, "identity.deleted"],
    ]);
    expect(await rowsLeft()).toBe(0);
  });
});
