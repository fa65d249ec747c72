/** Suggestions of the SDK over a running service: one person suggests, another reviews, and all lists follow. */
import { Atrium, type AtriumClient, type Permission } from "atrium/client";
import { type DocumentSuggestions, openDocument, openSuggestions, type Suggestion } from "atrium/documents";
import { AtriumServer } from "atrium/server";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import * as Y from "yjs";
import { sharedService } from "../cli/shared-service.ts";
import { EAGER, join, type Meeting, meet, next, nextOf } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const TEXT = "The quick fox jumps.";

const service = await sharedService();

let meeting: Meeting;
let atrium: AtriumServer;
/** The one who reviews. */
let ada: AtriumClient;

beforeEach(async () => {
  meeting = await meet(service);
  atrium = new AtriumServer({ serverUrl: service.url, ...meeting.customer.organization });
  const doc = new Y.Doc();
  doc.getText("default").insert(0, TEXT);
  await atrium.documents.seed(meeting.roomId, "notes", Y.encodeStateAsUpdate(doc));
  ada = await join(meeting, "Ada");
});

/** A person who may suggest, and not write. */
async function enterAsAuthor(serverUrl = service.url): Promise<AtriumClient> {
  const { roomId } = meeting;
  const { identity, token } = await atrium.identifyUser({ customId: `bo-${roomId}`, name: "Bo" });
  const permissions: readonly Permission[] = ["*:read", "documents:suggest"];
  await atrium.updateRoomAccess(roomId, { identitiesAccesses: { [identity.id]: permissions } });
  const person = new Atrium({ serverUrl, authToken: token }, EAGER);
  onTestFinished(async () => void (await person.close()));
  const room = person.enterRoom(roomId);
  await room.join();
  return room as unknown as AtriumClient;
}

/** Waits until the list looks so. */
async function shows(
  suggestions: DocumentSuggestions,
  holds: (list: readonly Suggestion[]) => boolean,
): Promise<readonly Suggestion[]> {
  if (!holds(suggestions.list))
    await next("the list to change", (listener: (list: readonly Suggestion[]) => void) =>
      suggestions.on("changed", (list) => holds(list) && listener(list)),
    );
  return suggestions.list;
}

const contentOf = () => atrium.documents.content(meeting.roomId, "notes");

it("one person suggests live, and another accepts one part and rejects the other", async () => {
  const bo = await enterAsAuthor();
  const [atAda, atBo] = [openSuggestions(ada, "notes"), openSuggestions(bo, "notes")];
  await Promise.all([atAda.load(), atBo.load()]);
  expect([atAda.list, openSuggestions(ada, "notes")]).toEqual([[], atAda]);

  const { id, fork } = await atBo.create({ title: "Livelier" });
  const [listed] = await shows(atAda, ({ length }) => length === 1);
  expect(listed).toMatchObject({ id, title: "Livelier", status: "pending", document: "notes" });
  expect(listed?.author).toEqual({ type: "user", id: bo.userId });
  expect((await atAda.read(id)).parts).toEqual([]);

  const changed = next("the author to write", (listener: (payload: undefined) => void) =>
    atAda.watch({ fork }, () =>
      atAda.read(id).then(({ parts }) => parts.length === 2 && listener(undefined)),
    ),
  );
  const draft = openDocument(bo, fork);
  onTestFinished(() => draft.destroy());
  await next("the fork", (listener: (isSynced: boolean) => void) => draft.on("sync", listener));
  const text = draft.doc.getText("default");
  expect(text.toString()).toBe(TEXT);
  text.insert(4, "very ");
  text.insert(text.length, " Far.");
  await draft.flush();
  await changed;
  expect(await contentOf()).toBe(TEXT);

  const { seq, parts } = await atAda.read(id);
  const [very, far] = parts;
  expect([very?.after, far?.after, very?.context.before]).toEqual(["very ", " Far.", "The "]);
  const closed = next("the fork to close", (listener: (event: { reason: string }) => void) =>
    draft.on("closed", listener),
  );
  const reviewed = await atAda.review(id, { seq, accept: [very?.id ?? ""], comment: "Thank you" });
  expect(reviewed.parts.map(({ state }) => state)).toEqual(["accepted", "rejected"]);
  await closed;
  text.insert(0, "Too late: "); // refused at once, so nothing waits for it
  await expect(draft.flush()).rejects.toBe(draft.error);
  await bo.flush();
  const [decided] = await shows(atBo, ([first]) => first?.status === "approved");
  expect(decided).toMatchObject({ comment: "Thank you", reviewed_by: { type: "user", id: ada.userId } });
  expect(await contentOf()).toBe("The very quick fox jumps.");
  expect((await atBo.read(id)).parts.map(({ state }) => state)).toEqual(["accepted", "rejected"]);
});

it("accepts nothing that the reviewer has not seen, and lets the author withdraw", async () => {
  const bo = await enterAsAuthor();
  const [atAda, atBo] = [openSuggestions(ada, "notes"), openSuggestions(bo, "notes")];
  await atAda.load();
  const { id } = await atBo.create({ edits: [{ at: { quote: "quick" }, replace: "slow" }] });
  const { seq } = await atAda.read(id);
  await expect(
    atrium.documents.editSuggestion(meeting.roomId, "notes", id, [{ at: "end", insert: "!" }]),
  ).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(atAda.review(id, { seq: seq + 1, accept: "all" })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(atBo.review(id, { seq, accept: "all" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await shows(atAda, ({ length }) => length === 1);
  await atBo.withdraw(id);
  await shows(atAda, ({ length }) => length === 0);
  expect(await contentOf()).toBe(TEXT);
});

it("a list that missed changes is read again", async () => {
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const bo = await enterAsAuthor(proxy.url);
  const atBo = openSuggestions(bo, "notes");
  await atBo.load();
  const lost = nextOf(bo, "reconnecting");
  proxy.shut();
  await lost;
  await atrium.documents.suggest(meeting.roomId, "notes", { title: "Missed" });
  proxy.open();
  const [missed] = await shows(atBo, ({ length }) => length === 1);
  expect([missed?.title, missed?.author.type]).toEqual(["Missed", "key"]);
});

it("a document that does not exist yet has no suggestions", async () => {
  const later = openSuggestions(ada, "later");
  await later.load();
  expect([later.list, later.isLoaded]).toEqual([[], true]);
  await expect(later.create()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("a program suggests, edits its suggestion, and reads the review", async () => {
  const { documents } = atrium;
  const { roomId } = meeting;
  const edits = [{ at: { quote: "quick" }, replace: "brown" }] as const;
  const { suggestion } = await documents.suggest(roomId, "notes", { title: "Color", edits });
  await documents.editSuggestion(roomId, "notes", suggestion.id, [{ at: "end", insert: " Far." }]);
  const { suggestions } = await documents.suggestions(roomId, "notes", { status: "pending" });
  expect(suggestions.map(({ title }) => title)).toEqual(["Color"]);
  const { seq, parts } = await documents.suggestion(roomId, "notes", suggestion.id);
  expect(parts.map(({ kind }) => kind)).toEqual(["replace", "insert"]);
  const review = await documents.reviewSuggestion(roomId, "notes", suggestion.id, { seq, accept: "all" });
  expect(review.suggestion.status).toBe("approved");
  expect(await contentOf()).toBe("The brown fox jumps. Far.");
  const other = await documents.suggest(roomId, "notes");
  await documents.withdrawSuggestion(roomId, "notes", other.suggestion.id);
});
