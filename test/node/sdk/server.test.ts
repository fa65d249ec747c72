/** `atrium/server` against the real service: every method once, and its retries when the network fails. */

import { AtriumError, AtriumServer } from "atrium/server";
import { beforeAll, describe, expect, it } from "vitest";
import { eachOf } from "../../../packages/sdk/server/pages.ts";
import { signUpOrganization } from "../cli/owner.ts";
import { type SharedService, sharedService } from "../cli/shared-service.ts";

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});

const connect = (options: Partial<ConstructorParameters<typeof AtriumServer>[0]> = {}) =>
  new AtriumServer({
    serverUrl: `${service.url}/`,
    accountId: service.accountId,
    apiKey: service.apiKey,
    ...options,
  });

/** A fetch that loses the first `losses` responses after the service has done the work. */
function losingFetch(losses: number): { readonly fetch: typeof fetch; readonly tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    fetch: async (input, init) => {
      tries += 1;
      const response = await fetch(input, init);
      if (tries <= losses) throw new TypeError("connection reset");
      return response;
    },
  };
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const refusal = (promise: Promise<unknown>): Promise<AtriumError> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AtriumError);
      return error as AtriumError;
    },
  );

describe("AtriumServer", () => {
  it("rejects an ID made of dots instead of requesting another path", async () => {
    const server = connect();
    const { id } = await server.rooms.create({ name: "Still here" });
    expect(await refusal(server.stores.delete(id, "..", ".."))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await refusal(server.comments.delete(id, "."))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await server.rooms.get(id)).room.name).toBe("Still here");
  });

  it("creates, finds, updates and deletes rooms", async () => {
    const { rooms } = connect();
    const created = await rooms.create({ name: "Weekly planning", customId: "ours/1" });
    expect(await rooms.get(created.id)).toMatchObject({ room: created, users: [], usersTotal: 0 });
    expect((await rooms.getByCustomId("ours/1")).room.id).toBe(created.id);
    expect(await rooms.list({ search: "weekly", limit: 1 })).toMatchObject({ rooms: [created], total: 1 });
    expect(await allOf(rooms.each({ search: "weekly" }))).toEqual([created]);
    expect(await rooms.update(created.id, { name: "Monthly", state: "closed" })).toMatchObject({
      name: "Monthly",
      state: "closed",
    });
    expect(await rooms.reconcile(created.id)).toMatchObject({ reconciled_active_participants: 0 });
    await rooms.delete(created.id);
    expect(await refusal(rooms.get(created.id))).toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
  });

  it("creates, finds, updates and deletes users", async () => {
    const { rooms, users } = connect();
    const { id: roomId } = await rooms.create({ name: "A room" });
    const ada = await users.create({ roomId, name: "Ada", customId: "7", role: "viewer" });
    expect(ada.token).toMatch(/^ey/);
    expect(await users.get(roomId, ada.id)).toEqual({ user: ada, sessions: [] });
    expect((await users.getByCustomId(roomId, "7")).user).toEqual(ada);
    expect(await users.list(roomId, { search: "ad" })).toMatchObject({ users: [ada], total: 1 });
    expect(await allOf(users.each(roomId))).toEqual([ada]);
    expect(await allOf(users.eachFound({ search: ada.id }))).toMatchObject([
      { id: ada.id, room_name: "A room" },
    ]);
    expect(await users.update(roomId, ada.id, { customId: null, name: "Ada B" })).toMatchObject({
      name: "Ada B",
    });
    expect((await refusal(users.getByCustomId(roomId, "7"))).code).toBe("NOT_FOUND");
    expect(await allOf(users.eachRecord(roomId, ada.id))).toMatchObject([
      { type: "user", user: { name: "Ada B" } },
      { type: "event", event: { event: "user.created" } },
      { type: "event", event: { event: "user.updated" } },
    ]);
    await users.delete(roomId, ada.id);
    expect((await refusal(users.get(roomId, ada.id))).code).toBe("NOT_FOUND");
    await users.erase(roomId, ada.id);
    expect(JSON.stringify(await allOf(users.eachRecord(roomId, ada.id)))).not.toContain("Ada");
  });

  it("exports an identity with its users in all rooms, and erases it", async () => {
    const { identities, rooms, users } = connect();
    const { id } = await identities.create({ name: "Ada" });
    for (const name of ["First", "Second"])
      await users.create({ roomId: (await rooms.create({ name })).id, name: "Ada", identityId: id });
    const records = await allOf(identities.eachRecord(id));
    expect(records).toContainEqual({ type: "identity", identity: await identities.get(id) });
    expect(records.filter((each) => each.type === "in_room" && each.record.type === "user")).toHaveLength(2);
    await identities.erase(id);
    expect((await refusal(allOf(identities.eachRecord(id)))).code).toBe("NOT_FOUND");
  });

  it("reads and writes stores, comments and presence, and broadcasts", async () => {
    const atrium = connect();
    const { id: roomId } = await atrium.rooms.create({ name: "A room" });
    const ada = await atrium.users.create({ roomId, name: "Ada" });
    const key = "a/b?c=✨";
    const { version } = await atrium.stores.set(roomId, "tasks", key, { title: "Milk" }, { ifVersion: 0 });
    await atrium.stores.update(roomId, "tasks", key, { done: true }, { ifVersion: version });
    expect((await atrium.stores.get(roomId, "tasks", key)).value).toEqual({ title: "Milk", done: true });
    expect((await refusal(atrium.stores.set(roomId, "tasks", key, 1, { ifVersion: version }))).code).toBe(
      "CONFLICT",
    );
    expect(await atrium.stores.list(roomId)).toEqual([{ name: "tasks", entries: 1, bytes: 37 }]);
    expect(Object.keys((await atrium.stores.getAll(roomId, "tasks")).entries)).toEqual([key]);
    const early = atrium.stores.delete(roomId, "tasks", key, { ifVersion: version });
    expect((await refusal(early)).code).toBe("CONFLICT");
    const latest = await atrium.stores.get(roomId, "tasks", key);
    await atrium.stores.delete(roomId, "tasks", key, { ifVersion: latest.version });
    expect((await refusal(atrium.stores.get(roomId, "tasks", key))).code).toBe("NOT_FOUND");

    const comment = await atrium.comments.create(roomId, { userId: ada.id, text: "Shall we?" });
    expect(await atrium.comments.update(roomId, comment.id, { resolved: true })).toMatchObject({
      resolved: true,
    });
    expect(await atrium.comments.list(roomId, { resolved: true })).toMatchObject({ total: 1 });
    expect((await allOf(atrium.comments.each(roomId, { resolved: true }))).map(({ id }) => id)).toEqual([
      comment.id,
    ]);
    await atrium.comments.delete(roomId, comment.id);
    expect(await atrium.comments.list(roomId)).toMatchObject({ comments: [] });

    expect(await atrium.broadcast(roomId, "hello", { text: "Hi" })).toBe(0);
    expect(await atrium.getPresence(roomId)).toEqual({});
    const leavesAt = await atrium.addParticipant(roomId, ada.id, { presence: { at: "work" }, ttl: 600 });
    expect(new Date(leavesAt).toISOString()).toBe(leavesAt);
    expect(await atrium.getPresence(roomId)).toMatchObject({ [ada.id]: { at: "work" } });
    await atrium.removeParticipant(roomId, ada.id);
    expect(await atrium.getPresence(roomId)).toEqual({});
  });
});

describe("when a response is lost", () => {
  it("a retried creation creates one room", async () => {
    const network = losingFetch(2);
    const room = await connect({ fetch: network.fetch }).rooms.create({ name: "Only one" });
    expect(network.tries()).toBe(3);
    expect(await connect().rooms.list({ search: "only one" })).toMatchObject({ rooms: [room], total: 1 });
  });

  it("a retried deletion succeeds although the first try already deleted the room", async () => {
    const { id } = await connect().rooms.create({ name: "Short-lived" });
    await connect({ fetch: losingFetch(1).fetch }).rooms.delete(id);
    expect((await refusal(connect().rooms.delete(id))).code).toBe("NOT_FOUND");
  });

  it("a conditional write is not retried, because it would conflict with itself", async () => {
    const { id } = await connect().rooms.create({ name: "A room" });
    const network = losingFetch(1);
    const writing = connect({ fetch: network.fetch }).stores.set(id, "s", "k", 1, { ifVersion: 0 });
    expect(await refusal(writing)).toMatchObject({ code: "UNREACHABLE", requestId: undefined });
    expect(network.tries()).toBe(1);
  });

  it("a request fails after maxRetries retries", async () => {
    const network = losingFetch(9);
    const listing = connect({ fetch: network.fetch, maxRetries: 1 }).rooms.list();
    expect(await refusal(listing)).toMatchObject({ code: "UNREACHABLE", module: "Client" });
    expect(network.tries()).toBe(2);
  });
});

describe("a document", () => {
  const paragraphs = (atrium: AtriumServer, roomId: string) =>
    atrium.documents.content(roomId, "notes", { type: "xml" });

  it("is read block by block and edited, once although an answer is lost", async () => {
    const atrium = connect({ fetch: losingFetch(3).fetch });
    const { id } = await connect().rooms.create({ name: "Edits" });
    const block = { name: "paragraph" };
    await atrium.documents.edit(id, "notes", [{ at: "end", insert: "One.\n\nTwo.", block }], { type: "xml" });
    expect(await paragraphs(atrium, id)).toBe("<paragraph>One.</paragraph><paragraph>Two.</paragraph>");
    const { base, blocks } = await atrium.documents.blocks(id, "notes", { type: "xml", limit: 1 });
    const at = { anchor: blocks[0]?.end ?? "" };
    const edited = await atrium.documents.edit(id, "notes", [{ at, insert: " And more." }], {
      type: "xml",
      base,
    });
    expect(edited).toMatchObject({ applied: true, edits: [{ text: "One. And more." }], changed: [] });
  });

  it("takes a text while it is generated, in blocks, and beside what others write there", async () => {
    const atrium = connect();
    const { id } = await atrium.rooms.create({ name: "Growing" });
    async function* generated() {
      yield "One ";
      yield "\ud83d";
      yield "\ude00.\n";
      await atrium.documents.edit(
        id,
        "notes",
        [{ at: "start", insert: "Before.", block: { name: "heading" } }],
        {
          type: "xml",
        },
      );
      yield "\nTwo";
      yield " and more.\n\n";
    }
    await atrium.documents.write(id, "notes", generated(), { type: "xml", block: { name: "paragraph" } });
    const both = [
      "<heading>Before.</heading>",
      "<paragraph>One 😀.</paragraph><paragraph>Two and more.</paragraph>",
    ];
    expect([both.join(""), both.toReversed().join("")]).toContain(await paragraphs(atrium, id));
    const { token } = await atrium.users.create({ roomId: id, name: "Agent", role: "editor" });
    const agent = connect({ apiKey: undefined, authToken: token });
    const long = "😀".repeat(60_000);
    await agent.documents.write(id, "plain", ["a", "b\n\n", "c", long]);
    expect(await agent.documents.content(id, "plain")).toBe(`ab\n\nc${long}`);
  });

  it("keeps what was written of a text whose block is deleted, and says so", async () => {
    const atrium = connect();
    const { id } = await atrium.rooms.create({ name: "Growing" });
    async function* generated() {
      yield "First";
      await expect.poll(() => paragraphs(atrium, id)).toContain("First");
      const latest = await atrium.documents.createVersion(id, "notes", "Written");
      await atrium.documents.rollBack(id, "notes", {
        author: latest.authors[0] as { type: "key"; id: string },
      });
      yield " second";
    }
    const writing = atrium.documents.write(id, "notes", generated(), {
      type: "xml",
      block: { name: "paragraph" },
    });
    expect(await refusal(writing)).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("deleted"),
    });
    expect(await paragraphs(atrium, id)).toBe("");
  });
});

it("an error has the service's code and the request ID in its log", async () => {
  const refused = await refusal(connect({ apiKey: "atrium_sk_wrong" }).rooms.list());
  expect(refused).toMatchObject({ name: "AtriumError", code: "UNAUTHORIZED", module: "Auth" });
  expect(refused.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

describe("The organization through the SDK: its API keys, members, invitations and overview", () => {
  let atrium: AtriumServer;

  beforeAll(async () => {
    service = await sharedService();
    const { url: serverUrl, accountId, apiKey } = service;
    atrium = new AtriumServer({ serverUrl, accountId, apiKey });
  });

  it("API keys are created, listed without their secrets, and revoked", async () => {
    const { api_key, key } = await atrium.organization.createKey("Back end");
    const { serverUrl, accountId } = { serverUrl: service.url, accountId: service.accountId };
    const other = new AtriumServer({ serverUrl, accountId, apiKey: key });
    expect((await other.organization.listKeys()).total).toBe(2);
    const { api_keys } = await atrium.organization.listKeys();
    expect(api_keys[0]).toMatchObject({ id: api_key.id, name: "Back end", last_four: key.slice(-4) });
    expect(JSON.stringify(api_keys)).not.toContain(key);
    await atrium.organization.revokeKey(api_key.id);
    expect((await atrium.organization.listKeys()).api_keys.map(({ id }) => id)).not.toContain(api_key.id);
  });

  describe("members", () => {
    it("are listed and invited by a link, which can be withdrawn", async () => {
      const { members } = await atrium.organization.listMembers();
      expect(members.map(({ role }) => role)).toEqual(["owner"]);
      const { invitation, url } = await atrium.organization.invite("member");
      expect(url.startsWith(`${service.url}/dashboard/invitations/`)).toBe(true);
      const { invitations } = await atrium.organization.listInvitations();
      expect(invitations).toEqual([invitation]);
      await atrium.organization.withdrawInvitation(invitation.id);
      expect((await atrium.organization.listInvitations()).total).toBe(0);
    });

    it("keep a last owner, and get links for a new password", async () => {
      const { members } = await atrium.organization.listMembers();
      const id = members[0]?.id ?? "";
      await expect(atrium.organization.setRole(id, "member")).rejects.toMatchObject({ code: "CONFLICT" });
      await expect(atrium.organization.removeMember(id)).rejects.toMatchObject({ code: "CONFLICT" });
      expect((await atrium.organization.setRole(id, "owner")).role).toBe("owner");
      // The organizations of all test files belong to one owner, whom none of them may lock out of the others.
      await expect(atrium.organization.createPasswordLink(id)).rejects.toMatchObject({ code: "FORBIDDEN" });
      const { accountId, apiKey } = await signUpOrganization(service.url);
      const { organization } = new AtriumServer({ serverUrl: service.url, accountId, apiKey });
      const [owner] = (await organization.listMembers()).members;
      const { url } = await organization.createPasswordLink(owner?.id ?? "");
      expect(url.startsWith(`${service.url}/dashboard/password-links/`)).toBe(true);
    });
  });

  it("the organization is renamed, and deleted only by its name", async () => {
    const before = await atrium.organization.get();
    expect(before.id).toBe(service.accountId);
    expect((await atrium.organization.rename("Renamed")).name).toBe("Renamed");
    await atrium.organization.rename(before.name);
    const deletion = atrium.organization.delete("Renamed");
    await expect(deletion).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("the overview counts rooms and users, and covers 24 hours", async () => {
    const room = await atrium.rooms.create({ name: "Board" });
    await atrium.users.create({ roomId: room.id, name: "Ada" });
    const overview = await atrium.organization.overview();
    expect(overview).toMatchObject({
      rooms_total: 1,
      rooms_online: 0,
      users_total: 1,
      participants_online: 0,
    });
    expect(overview.hours).toHaveLength(24);
  });

  it("a client without an API key is unauthorized outside a browser", async () => {
    const { url: serverUrl, accountId } = service;
    const listing = new AtriumServer({ serverUrl, accountId, apiKey: null }).rooms.list();
    await expect(listing).rejects.toBeInstanceOf(AtriumError);
    await expect(listing).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });
});

// Lists that go on over many pages.

it("reads a page only when its first item is wanted, and goes on behind the last one until none follows", async () => {
  const asked: unknown[] = [];
  const pages = [
    { items: [1, 2], cursor: "a" },
    { items: [], cursor: "b" },
    { items: [3], cursor: null },
  ];
  const read = async (part: object) => {
    asked.push(part);
    return pages[asked.length - 1] ?? { items: [], cursor: null };
  };
  const numbers = eachOf("items", read);
  expect(asked).toEqual([]);
  expect([await numbers.next(), await numbers.next()].map(({ value }) => value)).toEqual([1, 2]);
  expect(asked).toEqual([{ limit: 100 }]);
  const others: number[] = [];
  for await (const number of numbers) others.push(number);
  expect(others).toEqual([3]);
  expect(asked).toEqual([{ limit: 100 }, { limit: 100, after: "a" }, { limit: 100, after: "b" }]);
});
