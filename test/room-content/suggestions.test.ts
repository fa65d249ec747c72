/** Suggestions over REST: forks of documents, their reviews, and the rights at each endpoint and wire. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { Event } from "@atrium/contract/resources/events.ts";
import type { SuggestedPart, Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { EditedDocument } from "@atrium/contract/rest/document-edits.ts";
import { SUGGESTION_LIMITS } from "@atrium/contract/suggestion-limits.ts";
import { beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { base64ToBytes } from "../../src/platform/crypto/encoding.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import type { RoomRuntime } from "../../src/room/host/room-runtime.ts";
import type { DocumentWire } from "../../src/room/transport/connection.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { joinRoom } from "../room/support/join.ts";
import { gateway, TestRoom } from "../room/support/rooms.ts";
import {
  type Account,
  type Answer,
  type Api,
  account,
  bearer,
  freshAddress,
  narrowedKey,
  ORIGIN,
  refusalOf,
} from "../support/api.ts";
import { collectSlices, dropTables, restoreSlices } from "../support/archive.ts";

let owner: Account;
let roomId: string;
let path: string;

interface Made {
  readonly suggestion: Suggestion;
  readonly edits: EditedDocument["edits"];
}

interface Read {
  readonly suggestion: Suggestion;
  readonly seq: number;
  readonly parts: readonly SuggestedPart[];
}

beforeEach(async () => {
  owner = await account();
  roomId = (await owner.api.createRoom()).id;
  path = `/rooms/${roomId}/documents/notes`;
  await owner.api.post(`${path}/edits`, { edits: [{ at: "end", insert: "The old name is here." }] });
});

/** A user of an identity with this access to the room. */
async function member(permissions: string | readonly string[], kind = "person") {
  const { api } = owner;
  const { identity } = (await api.post<{ identity: { id: string } }>("/identities", { name: "Ida", kind }))
    .data;
  const allowed = await api.put(`/rooms/${roomId}/access`, {
    identitiesAccesses: { [identity.id]: permissions },
  });
  expect(allowed.status, allowed.error?.message).toBe(200);
  const fields = { roomId, name: "Ida", identityId: identity.id };
  const { user } = (await api.post<{ user: { id: string } }>("/users", fields)).data;
  const tokenOf = async (narrowing: object = {}) =>
    (await api.post<{ token: string }>(`/identities/${identity.id}/tokens`, narrowing)).data.token;
  const token = await tokenOf();
  return { identityId: identity.id, userId: user.id, token, tokenOf, api: api.as(token) };
}

const suggester = () => member(["*:read", "documents:suggest"]);

const RENAME = { at: { quote: "old name" }, replace: "new name" };
const ENDING = { at: "end", insert: " The end." };

const suggest = (api: Api, edits: readonly object[] = [RENAME, ENDING], rest: object = {}, headers = {}) =>
  api.post<Made>(`${path}/suggestions`, { edits, ...rest }, { headers });

async function suggested(api: Api, edits?: readonly object[], rest?: object): Promise<Suggestion> {
  const made = await suggest(api, edits, rest);
  expect(made.status, made.error?.message).toBe(201);
  return made.data.suggestion;
}

const pathOf = ({ id }: Pick<Suggestion, "id">) => `${path}/suggestions/${id}`;
const read = async (suggestion: Suggestion) => (await owner.api.get<Read>(pathOf(suggestion))).data;
const review = async (
  suggestion: Suggestion,
  accept: "all" | readonly string[],
  rest: object = {},
  api = owner.api,
) => {
  const { seq } = await read(suggestion);
  return api.post<Omit<Read, "seq">>(`${pathOf(suggestion)}/review`, { seq, accept, ...rest });
};
const listed = async (query = "") =>
  (await owner.api.get<{ suggestions: Suggestion[]; next: number | null }>(`${path}/suggestions${query}`))
    .data;
const contentOf = async (document = "notes") =>
  (
    await owner.api.get<{ content: string }>(
      `/rooms/${roomId}/documents/${encodeURIComponent(document)}/content`,
    )
  ).data.content;
/** Writes a whole document over REST. */
const putUpdate = (name: string, doc: Y.Doc, api = owner.api) =>
  api.send("PUT", `/rooms/${roomId}/documents/${name}`, {
    body: Y.encodeStateAsUpdate(doc).slice().buffer,
    headers: { "Content-Type": "application/octet-stream" },
  });
const inRoom = <T>(work: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.ROOMS.getByName(roomId), (_, { storage }) => work(storage));
const conflict = [409, "CONFLICT"];
const codeOf = ({ status, error }: Answer<unknown>) => [status, error?.code];

/** A user's client that has a document open over one of the wires. */
async function editor(token: string, name: string, wire: DocumentWire["wire"] = "yWebsocket") {
  const room = new TestRoom(owner.id, roomId);
  room.now = Date.now();
  const client = await (await DocumentClient.open(room, { token }, { wire, name })).synced();
  return { client, text: client.doc.getText("default") };
}

describe("a suggestion", () => {
  it("is a fork that its author writes into, and reaches the document by a review alone (G1)", async () => {
    const bot = await suggester();
    const made = await suggest(bot.api, [RENAME], { title: "Rename" });
    const { suggestion } = made.data;
    expect([made.status, made.data.edits]).toMatchObject([201, [{ text: "The new name is here." }]]);
    expect(suggestion).toMatchObject({
      document: "notes",
      fork: `~suggestions/${suggestion.id}`,
      title: "Rename",
      status: "pending",
      author: { type: "user", id: bot.userId },
      reviewed_by: null,
    });
    const edited = await bot.api.post(`${pathOf(suggestion)}/edits`, { edits: [ENDING] });
    expect(edited.status, edited.error?.message).toBe(200);
    expect(await contentOf()).toBe("The old name is here.");
    expect(await contentOf(suggestion.fork)).toBe("The new name is here. The end.");
    const { parts } = await read(suggestion);
    expect(parts.map(({ kind, state }) => [kind, state])).toEqual([
      ["replace", "pending"],
      ["insert", "pending"],
    ]);
    const answer = await review(suggestion, "all", { comment: "Fine" });
    expect(answer.status, answer.error?.message).toBe(200);
    expect(answer.data).toMatchObject({
      suggestion: { status: "approved", comment: "Fine", reviewed_by: { type: "key" } },
      parts: [{ state: "accepted" }, { state: "accepted" }],
    });
    expect(await contentOf()).toBe("The new name is here. The end.");
    const kept = await read(suggestion);
    expect([kept.seq, kept.parts]).toEqual([0, answer.data.parts]);
    expect(
      (await owner.api.get(`/rooms/${roomId}/documents/${encodeURIComponent(suggestion.fork)}`)).status,
    ).toBe(404);
  });

  it("is accepted in part, and a rejection of all writes nothing (G2)", async () => {
    const { api } = await suggester();
    const first = await suggested(api);
    const { parts } = await read(first);
    const ending = parts.find(({ kind }) => kind === "insert");
    const answer = await review(first, [ending?.id ?? ""]);
    expect(answer.data.parts.map(({ state }) => state)).toEqual(["rejected", "accepted"]);
    expect(await contentOf()).toBe("The old name is here. The end.");
    const second = await suggested(api, [RENAME]);
    const before = await owner.api.get<{ document: { seq: number } }>(`${path}/summary`);
    expect((await review(second, [])).data.suggestion.status).toBe("rejected");
    const after = await owner.api.get<{ document: { seq: number } }>(`${path}/summary`);
    expect(after.data.document.seq).toBe(before.data.document.seq);
    expect(await contentOf()).toBe("The old name is here. The end.");
  });

  it("is reviewed once, as its reviewer has seen it (G3)", async () => {
    const { api } = await suggester();
    const suggestion = await suggested(api);
    const { seq } = await read(suggestion);
    await api.post(`${pathOf(suggestion)}/edits`, { edits: [{ at: "end", insert: " Unseen." }] });
    const old = await owner.api.post(`${pathOf(suggestion)}/review`, { seq, accept: "all" });
    expect([codeOf(old), await contentOf()]).toEqual([conflict, "The old name is here."]);
    const current = (await read(suggestion)).seq;
    const answers = await Promise.all(
      [1, 2, 3].map(() => owner.api.post(`${pathOf(suggestion)}/review`, { seq: current, accept: "all" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await contentOf()).toBe("The new name is here. The end. Unseen.");
    const late = await api.post(`${pathOf(suggestion)}/edits`, { edits: [ENDING] });
    expect(codeOf(late)).toEqual(conflict);
  });

  it("is reviewed while others write elsewhere, and never while they change its place (G3)", async () => {
    const TEXT = "The old name is here.";
    const suggestion = await suggested((await suggester()).api, [{ at: { quote: TEXT }, delete: true }]);
    const doc = new Y.Doc();
    const { update } = (await owner.api.get<{ update: string }>(path)).data;
    Y.applyUpdate(doc, base64ToBytes(update));
    let changes = () => doc.getText("default").delete(0, 1);
    let attempts = 0;
    await runInDurableObject(env.ROOMS.getByName(roomId), (object: RoomObjectBase) => {
      const { room } = (object as unknown as { runtime(): RoomRuntime }).runtime();
      const made = room.suggestions.review.bind(room.suggestions);
      room.suggestions.review = (...review) => {
        attempts += 1;
        changes();
        room.documentRequests.write("notes", Y.encodeStateAsUpdate(doc), {
          author: { type: "organization" },
          onlyIfEmpty: false,
          keepsVersion: false,
        });
        return made(...review);
      };
    });
    const { seq } = await read(suggestion);
    const decide = () => owner.api.post(`${pathOf(suggestion)}/review`, { seq, accept: "all" });
    expect([codeOf(await decide()), attempts]).toEqual([conflict, 6]);
    expect(await contentOf()).toBe(TEXT.slice(6));
    changes = () => doc.getText("other").insert(0, "x");
    expect([(await decide()).status, attempts]).toEqual([200, 7]);
    expect(await contentOf()).toBe("");
  });

  it("is stale once its text went, and then accepted no more (G4)", async () => {
    const { api } = await suggester();
    const suggestion = await suggested(api, [RENAME]);
    await owner.api.post(`${path}/edits`, { edits: [{ at: { quote: "old name" }, replace: "title" }] });
    const { suggestion: shown, parts } = await read(suggestion);
    expect([shown.status, parts.map(({ state }) => state)]).toEqual(["stale", ["stale"]]);
    expect((await listed()).suggestions[0]?.status).toBe("pending");
    expect(codeOf(await review(suggestion, "all"))).toEqual(conflict);
    expect(codeOf(await review(suggestion, ["no such part"]))).toEqual(conflict);
    expect((await review(suggestion, [])).status).toBe(200);
  });

  it("stands in the trail under both names, after a version, and is taken back as its author's (G5)", async () => {
    const bot = await suggester();
    const reviewer = await member("editor");
    const suggestion = await suggested(bot.api);
    await review(suggestion, "all", {}, reviewer.api);
    type Trail = { trail: { authors: object[] }[] };
    const [entry] = (await owner.api.get<Trail>(`${path}/trail`)).data.trail;
    const names = [bot, reviewer].map(({ userId }) => ({ type: "user", id: userId }));
    expect(entry?.authors).toEqual(names);
    const versions = await owner.api.get<{ versions: object[] }>(`${path}/versions`);
    expect(versions.data.versions).toHaveLength(1);
    await owner.api.post(`${path}/rollback`, { author: names[1] });
    expect(await contentOf()).toBe("The new name is here. The end.");
    await owner.api.post(`${path}/rollback`, { author: names[0] });
    expect(await contentOf()).toBe("The old name is here.");
  });

  it("is made with all of its edits or not at all, and once for its Idempotency-Key (G6)", async () => {
    const { api } = await suggester();
    const refused = await suggest(api, [ENDING, { at: { quote: "no such text" }, delete: true }]);
    expect([codeOf(refused), (await listed()).suggestions]).toEqual([conflict, []]);
    const key = { "Idempotency-Key": "one" };
    const answers = await Promise.all([1, 2, 3].map(() => suggest(api, [ENDING], {}, key)));
    expect(new Set(answers.map(({ data }) => data.suggestion.id))).toHaveProperty("size", 1);
    expect((await listed()).suggestions).toHaveLength(1);
  });

  it("is listed newest first, by status and page by page (G7)", async () => {
    const { api } = await suggester();
    const [one, two, three] = [await suggested(api), await suggested(api, []), await suggested(api)];
    await review(one, []);
    const idsOf = ({ suggestions }: { suggestions: Suggestion[] }) => suggestions.map(({ id }) => id);
    expect(idsOf(await listed())).toEqual([three, two, one].map(({ id }) => id));
    expect(idsOf(await listed("?status=pending"))).toEqual([three, two].map(({ id }) => id));
    const page = await listed("?limit=2");
    expect(idsOf(await listed(`?limit=2&before=${page.next}`))).toEqual([one.id]);
  });

  it("is refused beyond the limits, of a fork, and of what does not exist (G8)", async () => {
    const { api } = await suggester();
    const suggestion = await suggested(api, []);
    const ofFork = `/rooms/${roomId}/documents/${encodeURIComponent(suggestion.fork)}/suggestions`;
    expect(codeOf(await api.post(ofFork, {}))).toEqual(conflict);
    expect((await api.post(`/rooms/${roomId}/documents/none/suggestions`, {})).status).toBe(404);
    expect((await api.get(`${path}/suggestions/none`)).status).toBe(404);
    expect((await api.get(pathOf(suggestion).replace("notes", "other"))).status).toBe(404);
    const { pending, pendingOfAuthor, pendingInRoom } = SUGGESTION_LIMITS;
    const fill = async (author: Api, count: number) => {
      const more = await Promise.all(Array.from({ length: count }, () => suggest(author, [])));
      expect(more.map(({ status }) => status)).toEqual(more.map(() => 201));
      expect(codeOf(await suggest(author, []))).toEqual(conflict);
    };
    await fill(api, pendingOfAuthor - 1);
    for (let left = pending / pendingOfAuthor - 1; left > 0; left -= 1)
      await fill((await suggester()).api, pendingOfAuthor);
    expect(codeOf(await suggest(owner.api, []))).toEqual(conflict);
    expect((await api.delete(pathOf(suggestion))).status).toBe(200);
    expect((await suggest(api, [])).status).toBe(201);
    const addElsewhere = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
      INSERT INTO suggestions (id, document, author, base_seq, secret, status, created_at)
      SELECT 'other ' || n, 1000, '{}', 1, '', 'pending', 1 FROM numbers`;
    await inRoom(({ sql }) => void sql.exec(addElsewhere, pendingInRoom - pending));
    await owner.api.post(`/rooms/${roomId}/documents/other/edits`, { edits: [ENDING] });
    const other = await owner.api.post(`/rooms/${roomId}/documents/other/suggestions`, {});
    expect([codeOf(other), other.error?.message]).toEqual([
      conflict,
      expect.stringContaining("The room has"),
    ]);
  });

  it("stays within the bound of built documents, and a larger one can be rejected (G8)", async () => {
    const bot = await suggester();
    const suggestion = await suggested(bot.api);
    const { client, text } = await editor(bot.token, suggestion.fork);
    text.insert(0, "x".repeat(DOCUMENT_LIMITS.builtBytes));
    await client.until(() => client.notes.some(([type]) => type === 2));
    const items = await editor(bot.token, suggestion.fork);
    const list = items.client.doc.getArray("list");
    items.client.doc.transact(() => {
      for (let at = 0; at <= DOCUMENT_LIMITS.builtItems / 2; at += 1) list.insert(0, [new Y.Map()]);
    });
    await items.client.until(() => items.client.notes.some(([type]) => type === 2));
    expect(await contentOf(suggestion.fork)).toBe("The new name is here. The end.");
    const { seq } = await read(suggestion);
    const doc = new Y.Doc();
    doc.getText("other").insert(0, "x".repeat(DOCUMENT_LIMITS.builtBytes));
    expect((await putUpdate("notes", doc)).status).toBe(200);
    const decide = (accept: "all" | string[]) =>
      owner.api.post<Omit<Read, "seq">>(`${pathOf(suggestion)}/review`, { seq, accept });
    expect(codeOf(await decide("all"))).toEqual(conflict);
    const rejected = await decide([]);
    expect([rejected.status, rejected.data]).toMatchObject([
      200,
      { suggestion: { status: "rejected" }, parts: [] },
    ]);
  });

  it("is kept with the beginnings of its texts and names, up to a bound (G7)", async () => {
    const bot = await suggester();
    const suggestion = await suggested(bot.api, []);
    const { client } = await editor(bot.token, suggestion.fork);
    const map = client.doc.getMap("map");
    client.doc.transact(() => {
      map.set("\u0001".repeat(1_000_000), 1);
      for (let at = 0; at < 150; at += 1) map.set(`${at}`.padEnd(600, "k"), "v".repeat(600));
    });
    client.sync();
    await client.synced();
    const { seq, parts } = await read(suggestion);
    const accept = parts.filter(({ path }) => path[0] !== "0").map(({ id }) => id);
    const answer = await owner.api.post<Read>(`${pathOf(suggestion)}/review`, { seq, accept });
    expect(answer.status, answer.error?.message).toBe(200);
    const kept = (await read(suggestion)).parts;
    expect([kept, parts.length]).toEqual([answer.data.parts, 151]);
    expect(kept.length).toBeGreaterThan(30);
    expect(JSON.stringify(kept).length).toBeLessThanOrEqual(SUGGESTION_LIMITS.keptBytes);
    expect(Math.max(...kept.map(({ path }) => `${path.at(-1)}`.length))).toBe(SUGGESTION_LIMITS.keptText);
  });

  it("frees the space of its fork for the update of its review (G3)", async () => {
    const bot = await suggester();
    const suggestion = await suggested(bot.api, []);
    const { client, text } = await editor(bot.token, suggestion.fork);
    text.insert(0, "x".repeat(30_000));
    client.sync();
    await client.synced();
    const limits = { documentBytes: 45_000 };
    expect((await owner.api.patch(`/rooms/${roomId}`, { limits })).status).toBe(200);
    const answer = await review(suggestion, "all");
    expect(answer.status, answer.error?.message).toBe(200);
    expect(await contentOf()).toHaveLength(30_000 + "The old name is here.".length);
  });

  it("of a document above the bound of built documents is refused (G8)", async () => {
    const doc = new Y.Doc();
    doc.getText("default").insert(0, "x".repeat(2 * 1024 * 1024 + 1));
    const large = `/rooms/${roomId}/documents/large`;
    expect((await putUpdate("large", doc)).status).toBe(200);
    expect(codeOf(await owner.api.post(`${large}/suggestions`, {}))).toEqual(conflict);
  });
});

describe("the right to suggest", () => {
  it("is no right to write, and the right to write has it (G9)", async () => {
    const [bot, editing, reading] = [await suggester(), await member("editor"), await member("viewer")];
    const suggestion = await suggested(bot.api);
    expect((await suggest(editing.api)).status).toBe(201);
    expect((await suggest(reading.api)).status).toBe(403);
    for (const { api } of [bot, reading]) {
      expect((await api.post(`${path}/edits`, { edits: [ENDING] })).status).toBe(403);
      expect((await review(suggestion, "all", {}, api)).status).toBe(403);
      expect((await api.get(pathOf(suggestion))).status).toBe(200);
    }
    const other = await suggester();
    for (const { api } of [other, editing, owner])
      expect((await api.post(`${pathOf(suggestion)}/edits`, { edits: [ENDING] })).status).toBe(403);
    for (const { api } of [other, reading]) expect((await api.delete(pathOf(suggestion))).status).toBe(403);
    expect((await editing.api.delete(pathOf(suggestion))).status).toBe(200);
  });

  it("is left by narrowed tokens and keys, and none beyond it (G9)", async () => {
    const editing = await member("editor");
    const narrowed = owner.api.as(await editing.tokenOf({ permissions: ["documents:suggest"] }));
    const others = await suggested(owner.api, []);
    const suggestion = await suggested(narrowed);
    expect((await narrowed.post(`${path}/edits`, { edits: [ENDING] })).status).toBe(403);
    expect((await narrowed.delete(pathOf(others))).status).toBe(403);
    expect((await review(suggestion, "all", {}, narrowed)).status).toBe(403);
    const reading = owner.api.as(await editing.tokenOf({ permissions: ["*:read"] }));
    expect((await suggest(reading)).status).toBe(403);
    const { api: key } = await narrowedKey(owner, { permissions: ["documents:suggest"], rooms: [roomId] });
    expect((await suggest(key)).status).toBe(201);
    expect((await key.post(`${path}/edits`, { edits: [ENDING] })).status).toBe(403);
  });

  it("ends with its holder's access, for a suggestion that is pending, too (G9)", async () => {
    const bot = await suggester();
    const suggestion = await suggested(bot.api);
    await owner.api.put(`/rooms/${roomId}/access`, { identitiesAccesses: { [bot.identityId]: "viewer" } });
    expect((await bot.api.post(`${pathOf(suggestion)}/edits`, { edits: [ENDING] })).status).toBe(403);
    expect((await suggest(bot.api)).status).toBe(403);
    expect((await bot.api.delete(pathOf(suggestion))).status).toBe(403);
  });

  it("appears in a decision as a level between reading and writing (G9)", async () => {
    const { identityId } = await suggester();
    const answer = await owner.api.post<{
      permissions: string[];
      sources: { resource: string; level: string }[];
    }>(`/rooms/${roomId}/access/check`, { identityId });
    expect(answer.data.permissions).toEqual(["*:read", "documents:suggest"]);
    expect(answer.data.sources.find(({ resource }) => resource === "documents")?.level).toBe("suggest");
  });
});

describe("a suggestion's fork", () => {
  it.each(["yWebsocket", "hocuspocus", "room"] as const)(
    "is written by its author alone over %s, and seen by others as it grows (G10)",
    async (wire) => {
      const [bot, other, editing] = [await suggester(), await suggester(), await member("editor")];
      const { fork } = await suggested(bot.api, []);
      const atBot = await editor(bot.token, fork, wire);
      const atOther = await editor(other.token, fork, wire);
      const atEditor = await editor(editing.token, fork, wire);
      const atReader = await editor((await member("viewer")).token, fork, wire);
      for (const { text, client } of [atOther, atEditor]) {
        text.insert(0, "Not mine. ");
        await client.until(() => client.notes.some(([type]) => type === (wire === "yWebsocket" ? 2 : 8)));
      }
      atBot.text.insert(0, "Mine. ");
      await atReader.client.until(() => atReader.text.toString() === "Mine. The old name is here.");
      expect(await contentOf(fork)).toBe("Mine. The old name is here.");
    },
  );

  it("swallows nothing that others write, whose client IDs its author has used (G18)", async () => {
    const [bot, ada] = [await suggester(), await member("editor")];
    const suggestion = await suggested(bot.api, [ENDING]);
    const offline = new Y.Doc();
    const atBot = await editor(bot.token, suggestion.fork);
    atBot.client.doc.clientID = offline.clientID;
    atBot.text.insert(0, "Forged by the author of a suggestion. ");
    await expect.poll(() => contentOf(suggestion.fork)).toContain("Forged");
    const { seq, parts } = await read(suggestion);
    const ending = parts.find(({ after }) => after?.includes("The end."));
    expect((await review(suggestion, [ending?.id ?? ""], { seq })).status).toBe(200);
    offline.getText("default").insert(0, "Typed by Ada. ");
    expect((await putUpdate("notes", offline, ada.api)).status).toBe(200);
    expect(await contentOf()).toContain("Typed by Ada. ");
    expect(await contentOf()).not.toContain("Forged");
  });

  it("closes with the review, and takes no update after it (G11)", async () => {
    const bot = await suggester();
    const suggestion = await suggested(bot.api, []);
    const { client, text } = await editor(bot.token, suggestion.fork);
    text.insert(0, "Mine. ");
    client.sync();
    await client.synced();
    expect((await review(suggestion, "all")).status).toBe(200);
    await client.closed;
    const back = await editor(bot.token, suggestion.fork);
    back.text.insert(0, "Late. ");
    await back.client.until(() => back.client.notes.some(([type]) => type === 2));
    expect(
      (await owner.api.get(`/rooms/${roomId}/documents/${encodeURIComponent(suggestion.fork)}`)).status,
    ).toBe(404);
    expect(await contentOf()).toBe("Mine. The old name is here.");
  });

  it("is none of the room's documents, and is changed by its own endpoints alone (G12)", async () => {
    const { fork } = await suggested(owner.api);
    const { documents } = (
      await owner.api.get<{ documents: { name: string }[] }>(`/rooms/${roomId}/documents`)
    ).data;
    expect(documents.map(({ name }) => name)).toEqual(["notes"]);
    for (const name of [fork, "~suggestions/other"]) {
      const of = `/rooms/${roomId}/documents/${encodeURIComponent(name)}`;
      const deleted = await owner.api.delete(of);
      expect(codeOf(deleted)).toEqual(name === fork ? conflict : [404, "NOT_FOUND"]);
      const answers = [
        await owner.api.put(of, { update: "AQEBAAQBAXQBYQA=" }),
        await owner.api.post(`${of}/edits`, { edits: [ENDING] }),
        await owner.api.post(`${of}/versions`, { name: "Mine" }),
        await owner.api.post(`${of}/versions/1/restore`),
        await owner.api.post(`${of}/rollback`, { userId: "ada" }),
        await owner.api.delete(`${of}/versions/1`),
      ];
      expect(answers.map(codeOf)).toEqual(answers.map(() => conflict));
    }
    expect(
      (await owner.api.get(`/rooms/${roomId}/documents/${encodeURIComponent(fork)}/blocks`)).status,
    ).toBe(200);
  });

  it("has a name that older documents may have, which can be deleted (G12)", async () => {
    await owner.api.post(`/rooms/${roomId}/documents/older/edits`, { edits: [ENDING] });
    await inRoom(
      ({ sql }) => void sql.exec("UPDATE documents SET name = '~suggestions/x' WHERE name = 'older'"),
    );
    const older = `/rooms/${roomId}/documents/${encodeURIComponent("~suggestions/x")}`;
    const reader = await member("viewer");
    expect((await reader.api.delete(older)).status).toBe(403);
    expect((await owner.api.delete(older)).status).toBe(200);
    expect((await owner.api.get(older)).status).toBe(404);
  });

  it("goes with its document, and with its suggestion (G13)", async () => {
    const [one, two] = [await suggested(owner.api), await suggested(owner.api)];
    expect((await owner.api.delete(pathOf(one))).status).toBe(200);
    expect((await owner.api.get(pathOf(one))).status).toBe(404);
    await owner.api.delete(path);
    expect((await owner.api.get(`/rooms/${roomId}/documents/${encodeURIComponent(two.fork)}`)).status).toBe(
      404,
    );
    await owner.api.post(`${path}/edits`, { edits: [ENDING] });
    expect((await listed()).suggestions).toEqual([]);
    expect((await owner.api.get(pathOf(two))).status).toBe(404);
  });
});

describe("everyone in the room", () => {
  it("learns of suggestions that are made, reviewed and withdrawn (G14)", async () => {
    const { token } = await member("viewer");
    const socket = await joinRoom(owner.id, roomId, token);
    const one = await suggested(owner.api, [RENAME], { title: "One" });
    expect(await socket.nextEvent()).toMatchObject({
      event: "suggestionChanged",
      data: { suggestion: { id: one.id, title: "One", status: "pending" } },
    });
    await review(one, "all");
    expect(await socket.nextEvent()).toMatchObject({
      event: "suggestionChanged",
      data: { suggestion: { id: one.id, status: "approved" } },
    });
    const two = await suggested(owner.api, [ENDING]);
    await owner.api.delete(pathOf(two));
    expect(await socket.nextEvent()).toMatchObject({ event: "suggestionChanged" });
    const data = { suggestionId: two.id, document: "notes" };
    expect(await socket.nextEvent()).toMatchObject({ event: "suggestionDeleted", data });
  });

  it("finds them in the log of events, and none of their forks (G15)", async () => {
    const one = await suggested(owner.api);
    await review(one, [(await read(one)).parts[0]?.id ?? ""]);
    const names = ["suggestion.created", "suggestion.reviewed"];
    const logged = async () =>
      (await owner.api.get<{ events: Event[] }>(`/rooms/${roomId}/events`)).data.events.filter(
        ({ event }) => !/^(room|user|access)/.test(event),
      );
    await expect.poll(async () => (await logged()).map(({ event }) => event)).toEqual(names);
    const data = { roomId, document: "notes", suggestionId: one.id };
    expect(await logged()).toMatchObject([
      { data, suggestion: { status: "pending" } },
      { data: { ...data, accepted: 1, rejected: 1 }, suggestion: { status: "approved" } },
    ]);
    const notes = await runInDurableObject(env.ROOMS.getByName(roomId), (_, { storage }) =>
      storage.sql.exec<{ document: string }>("SELECT document FROM document_notes").toArray(),
    );
    expect(new Set(notes.map(({ document }) => document))).toEqual(new Set(["notes"]));
  });
});

describe("the data of a person", () => {
  it("has its suggestions and reviews, and an erasure leaves no name (G16)", async () => {
    const [bot, reviewer] = [await suggester(), await member("editor")];
    const [pending, reviewed] = [await suggested(bot.api, [RENAME]), await suggested(bot.api, [ENDING])];
    const others = await suggested(owner.api, [ENDING]);
    for (const each of [reviewed, others]) await review(each, [], { comment: "By me" }, reviewer.api);
    const recordsOf = async (userId: string) => {
      const address = `/users/${userId}/personal-data?roomId=${roomId}`;
      const records: object[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const after: string = cursor === "" ? "" : `&after=${encodeURIComponent(cursor)}`;
        const page = await owner.api.get<{ records: object[]; cursor: string | null }>(address + after);
        records.push(...page.data.records);
        ({ cursor } = page.data);
      }
      return records.filter((record) => "suggestion" in record && !("event" in record));
    };
    expect(await recordsOf(bot.userId)).toMatchObject([
      { type: "suggestion", suggestion: { id: pending.id } },
      { type: "suggestion", suggestion: { id: reviewed.id } },
    ]);
    expect(await recordsOf(reviewer.userId)).toHaveLength(2);
    const erase = async ({ userId }: { userId: string }) => {
      const erased = await owner.api.delete(`/users/${userId}/personal-data?roomId=${roomId}`);
      expect(erased.status, erased.error?.message).toBe(200);
    };
    await erase(reviewer);
    expect((await read(others)).suggestion).toMatchObject({
      status: "rejected",
      reviewed_by: null,
      comment: null,
    });
    await erase(bot);
    expect((await listed()).suggestions.map(({ id }) => id)).toEqual([others.id]);
    expect(
      (await owner.api.get(`/rooms/${roomId}/documents/${encodeURIComponent(pending.fork)}`)).status,
    ).toBe(404);
  });

  it("leaves the log of events with its titles and comments (G16)", async () => {
    const [bot, reviewer] = [await suggester(), await member("editor")];
    const suggestion = await suggested(bot.api, [ENDING], { title: "A hawfinch" });
    await review(suggestion, "all", { comment: "Fine, hawfinch" }, reviewer.api);
    const logged = async () => {
      const { data } = await owner.api.get<{ events: Event[] }>(`/rooms/${roomId}/events`);
      return data.events.filter(({ event }) => event.startsWith("suggestion."));
    };
    await expect.poll(async () => (await logged()).length).toBe(2);
    const erase = ({ userId }: { userId: string }) =>
      owner.api.delete(`/users/${userId}/personal-data?roomId=${roomId}`);
    expect((await erase(reviewer)).status).toBe(200);
    expect(await logged()).toMatchObject([
      { suggestion: { title: "A hawfinch" } },
      { suggestion: { title: "A hawfinch", comment: null } },
    ]);
    expect((await erase(bot)).status).toBe(200);
    const titles = [{ suggestion: { title: null } }, { suggestion: { title: null, comment: null } }];
    expect(await logged()).toMatchObject(titles);
  });

  it("is archived with the room, and a restored suggestion is reviewed as before (G17)", async () => {
    const { api } = await suggester();
    const suggestion = await suggested(api);
    const waiting = "SELECT 1 FROM inbox_updates UNION ALL SELECT 1 FROM events";
    await expect.poll(() => inRoom(({ sql }) => sql.exec(waiting).toArray().length)).toBe(0);
    const object = gateway.archived(roomId);
    const slices = await collectSlices(object);
    await inRoom(dropTables);
    await evictDurableObject(env.ROOMS.getByName(roomId));
    await restoreSlices(object, slices);
    expect(
      (await api.post(`${pathOf(suggestion)}/edits`, { edits: [{ at: "start", insert: "Back. " }] })).status,
    ).toBe(200);
    const answer = await review(suggestion, "all");
    expect(answer.status, answer.error?.message).toBe(200);
    expect(await contentOf()).toBe("Back. The new name is here. The end.");
    const made = await suggested(api, [ENDING]);
    expect((await read(made)).parts).toHaveLength(1);
  });
});

it("an agent proposes over MCP, and a reviewer accepts there (G9)", async () => {
  const call = async (authorization: string, name: string, operation: string, args: object) => {
    const params = { name, arguments: { operation, arguments: { roomId, document: "notes", ...args } } };
    const response = await exports.default.fetch(
      new Request(`${ORIGIN}/mcp`, {
        method: "POST",
        headers: {
          Authorization: authorization,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "CF-Connecting-IP": freshAddress(),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      }),
    );
    type Called = { result: { isError?: boolean; structuredContent: Made & Read } };
    return (await response.json<Called>()).result;
  };
  const bot = await member(["*:read", "documents:suggest"], "agent");
  const asBot = `Bearer ${bot.token}`;
  const made = await call(asBot, "change_documents", "createSuggestion", { edits: [ENDING] });
  const { id } = made.structuredContent.suggestion;
  const of = { suggestionId: id };
  const { seq } = (await call(asBot, "read_documents", "getSuggestion", of)).structuredContent;
  const decision = { ...of, seq, accept: "all" };
  expect((await call(asBot, "change_documents", "reviewSuggestion", decision)).isError).toBe(true);
  const reviewed = await call(
    bearer(owner.id, owner.apiKey),
    "change_documents",
    "reviewSuggestion",
    decision,
  );
  expect(reviewed.structuredContent.suggestion.status).toBe("approved");
  expect(await contentOf()).toBe("The old name is here. The end.");
});

it("refuses changes of suggestions in a closed room to users (G9)", async () => {
  const bot = await suggester();
  const suggestion = await suggested(bot.api);
  await owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
  const answers = [
    await suggest(bot.api),
    await bot.api.post(`${pathOf(suggestion)}/edits`, { edits: [ENDING] }),
    await bot.api.delete(pathOf(suggestion)),
  ];
  expect(answers.map((answer) => refusalOf(answer)[0])).toEqual(answers.map(() => 403));
});
