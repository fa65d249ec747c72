/** Edits of documents by programs, while people type in them. */

import { exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import type { EditedDocument, ReadBlocks } from "../../packages/contract/rest/document-edits.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { type Api, account, ORIGIN } from "../support/api.ts";

let api: Api;
let roomId: string;
let path: string;

beforeEach(async () => {
  ({ api } = await account());
  roomId = (await api.createRoom()).id;
  path = `/rooms/${roomId}/documents/notes`;
});

const user = async (role = "editor") =>
  (await api.post<{ user: { id: string; token: string } }>("/users", { name: "Ada", roomId, role })).data
    .user;

/** A person who has the document open. */
async function typist() {
  const { token } = await user();
  const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `atrium, ${token}` };
  const { webSocket } = await exports.default.fetch(
    new Request(`${ORIGIN}${api.base}${path}/sync`, { headers }),
  );
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  const client = DocumentClient.over(webSocket);
  await client.synced();
  const text = client.doc.getText("default");
  const type = async (at: number, typed: string) => {
    text.insert(at, typed);
    client.sync();
    await client.synced();
  };
  return { client, text, type };
}

const edit = (edits: readonly object[], rest: object = {}, headers: Record<string, string> = {}) =>
  api.post<EditedDocument>(`${path}/edits`, { edits, ...rest }, { headers });
const insertAtEnd = (insert: string) => edit([{ at: "end", insert }]);
const blocks = async (query = "") => (await api.get<ReadBlocks>(`${path}/blocks${query}`)).data;
const content = async (query = "") =>
  (await api.get<{ content: string }>(`${path}/content${query}`)).data.content;

describe("an edit of a program", () => {
  it("reaches who types, beside what they typed since the program has read (D28)", async () => {
    const ada = await typist();
    await ada.type(0, "The meeting is on Monday.");
    const { base } = await blocks();
    await ada.type(0, "Hello. ");
    const answer = await edit([{ at: { quote: "Monday" }, replace: "Tuesday" }], { base });
    expect(answer.data).toMatchObject({
      applied: true,
      edits: [{ text: "Hello. The meeting is on Tuesday." }],
      changed: [{ inserted: 7, deleted: 0, authors: [{ type: "user" }] }],
    });
    await ada.client.until(() => ada.text.toString() === "Hello. The meeting is on Tuesday.");
  });

  it("is refused with the present text where its place has changed, and none of its list is applied (D28)", async () => {
    const ada = await typist();
    await ada.type(0, "The meeting is on Monday.");
    const { base } = await blocks();
    await ada.type("The meeting is on Mon".length, "day, no, Tues");
    const list = [
      { at: "start", insert: "Note: " },
      { at: { quote: "on Monday." }, replace: "on Friday." },
    ];
    const refused = await edit(list, { base });
    expect([refused.status, refused.error?.code]).toEqual([409, "CONFLICT"]);
    expect(refused.error?.message).toContain("edits[1]");
    expect(refused.error?.message).toContain("Monday, no, Tuesday");
    expect(await content()).toBe("The meeting is on Monday, no, Tuesday.");
  });

  it("is applied once for its Idempotency-Key, however often and at once it is sent (D28)", async () => {
    await insertAtEnd("One.");
    const send = () => edit([{ at: "end", insert: " Two." }], {}, { "Idempotency-Key": "two" });
    const answers = await Promise.all([send(), send(), send(), send()]);
    expect(new Set(answers.map(({ data }) => JSON.stringify(data)))).toHaveProperty("size", 1);
    expect(await send()).toMatchObject({ status: 200, data: answers[0]?.data });
    expect(await content()).toBe("One. Two.");
  });

  it("of many that replace the same text at once, one holds, and all that write beside it", async () => {
    await insertAtEnd("The old name.");
    const names = Array.from({ length: 12 }, (_, index) => `name ${index}`);
    const replaced = names.map((name) => edit([{ at: { quote: "old name" }, replace: name }]));
    const [answers, beside] = await Promise.all([
      Promise.all(replaced),
      Promise.all(names.map((name) => edit([{ at: "start", insert: `<${name}>` }]))),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...names.slice(1).map(() => 409)]);
    expect(beside.map(({ status }) => status)).toEqual(names.map(() => 200));
    const shown = await content();
    for (const name of names) expect(shown.split(`<${name}>`)).toHaveLength(2);
    expect(shown).toMatch(/>The name \d+\.$/);
  });

  it("stands in the trail under its author, and is taken back as such", async () => {
    const ada = await typist();
    await ada.type(0, "Ada's own. ");
    await insertAtEnd("By the key.");
    type Trail = { trail: { author: { type: "key"; id: string } }[] };
    const [entry] = (await api.get<Trail>(`${path}/trail`)).data.trail;
    expect(entry).toMatchObject({ author: { type: "key" }, updates: 1 });
    await ada.type(0, "More. ");
    expect((await api.post(`${path}/rollback`, { author: entry?.author })).data).toEqual({ applied: true });
    expect(await content()).toBe("More. Ada's own. ");
    for (const body of [
      {},
      { author: entry?.author, userId: "ada" },
      { author: { type: "organization", id: "a" } },
    ])
      expect((await api.post(`${path}/rollback`, body)).status).toBe(400);
  });

  it("needs the right to write documents, and an open room", async () => {
    await insertAtEnd("Text.");
    const vera = api.as((await user("viewer")).token);
    expect((await vera.get<ReadBlocks>(`${path}/blocks`)).data.blocks).toMatchObject([{ text: "Text." }]);
    const body = { edits: [{ at: "end", insert: "!" }] };
    expect((await vera.post(`${path}/edits`, body)).error?.code).toBe("FORBIDDEN");
    const ada = api.as((await user()).token);
    expect((await ada.post(`${path}/edits`, body)).status).toBe(200);
    await api.patch(`/rooms/${roomId}`, { state: "closed" });
    expect((await ada.post(`${path}/edits`, body)).error?.code).toBe("FORBIDDEN");
    expect(await content()).toBe("Text.!");
  });

  it.each([
    [{}],
    [{ edits: [] }],
    [{ edits: [{ at: "middle", insert: "x" }] }],
    [{ edits: [{ at: "end", insert: "" }] }],
    [{ edits: [{ at: "end", insert: "x", replace: "y" }] }],
    [{ edits: [{ at: { anchor: "!" }, insert: "x" }] }],
    [{ edits: [{ at: { anchor: "AAAA" }, insert: "x" }] }],
    [{ edits: [{ at: { anchor: "/////w==" }, insert: "x" }] }],
    [{ edits: [{ at: "end", insert: "x", block: { name: "paragraph" } }] }],
    [{ edits: [{ at: "end", insert: "x" }], type: "map" }],
    [{ edits: [{ at: "end", insert: "x" }], base: "no base" }],
    [{ edits: [{ at: "end", insert: "x" }], base: "AQE=" }],
    [{ edits: [{ at: "end", insert: "x" }], base: "/////w==" }],
    [{ edits: [{ at: "end", insert: "x" }], base: "A" }],
    [{ edits: [{ at: "end", insert: "x" }], base: -1 }],
  ])("that is malformed is refused, and changes nothing: %j", async (body) => {
    await insertAtEnd("Text.");
    const refused = await api.post(`${path}/edits`, body);
    expect([400, 409]).toContain(refused.status);
    expect(await content()).toBe("Text.");
  });

  it("may be made with the base of before after one's own, and not over what others deleted (D28)", async () => {
    const ada = await typist();
    await ada.type(0, "Fee 10 USD, secret code 1234.");
    const {
      base,
      blocks: [block],
    } = await blocks();
    const stretch = { anchor: block?.anchor, end: block?.end };
    expect((await edit([{ at: { quote: "USD" }, replace: "EUR" }], { base })).data.changed).toEqual([]);
    ada.text.delete(10, ", secret code 1234".length);
    ada.client.sync();
    await ada.client.synced();
    const refused = await edit([{ at: stretch, replace: "Fee 12 EUR, secret code 1234." }], { base });
    expect([refused.status, await content()]).toEqual([409, "Fee 10 EUR."]);
    expect(refused.error?.message).toContain("Fee 10 EUR.");
    const unread = await edit([{ at: stretch, replace: "x" }]);
    expect([unread.status, unread.error?.message]).toEqual([400, expect.stringContaining("base")]);
    const later = (await blocks()).base;
    const answer = await edit([{ at: stretch, replace: "Fee 12 EUR." }], { base: later });
    expect(answer.data).toMatchObject({ applied: true, changed: [], base: later + 1, seq: later + 1 });
    expect((await edit([{ at: stretch, delete: true }], { base: later })).status).toBe(200);
    const unknown = await edit([{ at: "end", insert: "x" }], { base: later + 9 });
    expect([unknown.status, unknown.error?.message]).toEqual([409, expect.stringContaining("read it again")]);
  });

  it("by the token of a user counts as another's, as that user may type as well (D28)", async () => {
    const { token } = await user();
    const agent = api.as(token);
    const send = (edits: readonly object[], base?: number) =>
      agent.post<EditedDocument>(`${path}/edits`, { edits, base });
    await send([{ at: "end", insert: "One two." }]);
    const {
      base,
      blocks: [block],
    } = await blocks();
    const { data } = await send([{ at: { quote: "two" }, replace: "2" }], base);
    const stretch = { anchor: block?.anchor, end: block?.end };
    expect((await send([{ at: stretch, replace: "x" }], base)).error?.code).toBe("CONFLICT");
    expect((await send([{ at: stretch, replace: "1 2" }], data.base)).data).toMatchObject({ applied: true });
  });

  it("of one author goes on with one client of Yjs, which others' state vectors name once (D28)", async () => {
    const ada = await typist();
    await ada.type(0, "a");
    for (let piece = 0; piece < 5; piece += 1) await insertAtEnd(`${piece}`);
    await Promise.all(["b", "c", "d"].map((text) => insertAtEnd(text)));
    await ada.client.until(() => ada.text.length === 9);
    expect(ada.client.doc.store.clients.size).toBeLessThanOrEqual(4);
    expect(ada.text.toString()).toMatch(/^a01234[bcd]{3}$/);
  });

  it("concerns a document that exists, unless it writes at an end", async () => {
    expect((await edit([{ at: { quote: "a" }, insert: "b" }])).error?.code).toBe("NOT_FOUND");
    expect((await api.get(`${path}/blocks`)).error?.code).toBe("NOT_FOUND");
    const answers = await Promise.all([insertAtEnd("b"), insertAtEnd("c")]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([..."bc"].sort().join("")).toBe([...(await content())].sort().join(""));
  });
});

describe("the blocks of an editor's document", () => {
  it("are read with anchors that stay while others write, and new ones are written beside them", async () => {
    const doc = new Y.Doc();
    const fragment = doc.getXmlFragment("default");
    const block = (name: string, text: string) => {
      const element = new Y.XmlElement(name);
      element.insert(0, [new Y.XmlText(text)]);
      return element;
    };
    fragment.insert(0, [block("heading", "Plans"), block("paragraph", "Buy milk.")]);
    await api.put(path, { update: btoa(String.fromCharCode(...Y.encodeStateAsUpdate(doc))) });
    const { base, blocks: read, next } = await blocks("?type=xml");
    expect([next, read]).toMatchObject([
      null,
      [
        { name: "heading", text: "Plans" },
        { name: "paragraph", text: "Buy milk." },
      ],
    ]);
    const xml = { type: "xml", base };
    await edit([{ at: { quote: "Buy" }, replace: "Sell" }], xml);
    const end = read[1]?.end;
    const written = await edit(
      [
        { at: { anchor: end }, insert: " And tea." },
        { at: { anchor: end }, insert: "Then rest.\n\nThen read.", block: { name: "paragraph" } },
      ],
      xml,
    );
    expect(written.status).toBe(200);
    expect(await content("?type=xml")).toBe(
      "<heading>Plans</heading><paragraph>Sell milk. And tea.</paragraph><paragraph>Then rest.</paragraph><paragraph>Then read.</paragraph>",
    );
    const page = await blocks("?type=xml&limit=1");
    expect(page.blocks).toMatchObject([{ text: "Plans" }]);
    expect((await blocks(`?type=xml&after=${encodeURIComponent(page.next ?? "")}`)).blocks).toHaveLength(3);
  });
});
