/** Documents of the SDK over a running service: several providers, cuts, refusals, and who is there. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { AtriumClient } from "atrium/client";
import { type DocumentClient, type DocumentProvider, openDocument } from "atrium/documents";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { DEFAULT_RUNTIME, type Runtime } from "../../../packages/sdk/core/runtime.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, join, meet, next, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { BreakableProxy } from "./proxy.ts";

const PASTE = "a paste ".repeat(10_000);

const service = await sharedService();

/** A provider that is destroyed when the test ends. */
function open(client: DocumentClient, name = "notes", doc = new Y.Doc()): DocumentProvider {
  const provider = openDocument(client, name, { doc });
  onTestFinished(() => provider.destroy());
  return provider;
}

const textOf = ({ doc }: { readonly doc: Y.Doc }) => doc.getText("text");

/** Waits until something holds, which events of the provider or of its document make true. */
async function until(provider: DocumentProvider, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await next("something to hold", (listener: (payload: undefined) => void) => {
    const check = () => holds() && listener(undefined);
    const offs = [
      provider.on("status", check),
      provider.on("sync", check),
      provider.on("unsyncedChanges", check),
      provider.on("error", check),
    ];
    provider.doc.on("update", check);
    provider.awareness.on("change", check);
    return () => {
      for (const off of offs) off();
      provider.doc.off("update", check);
      provider.awareness.off("change", check);
    };
  });
}

const synced = (provider: DocumentProvider) => until(provider, () => provider.synced);
const shows = (provider: DocumentProvider, text: string) =>
  until(provider, () => textOf(provider).toString() === text);

it("a document follows its room: before the client joins, while it is cut off, and after (D17)", async () => {
  const meeting = await meet(service);
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  const atAda = clientOf(ada, { serverUrl: proxy.url });
  const one = open(atAda);
  textOf(one).insert(0, "before");
  expect([one.status, one.synced, one.hasUnsyncedChanges]).toEqual(["disconnected", false, true]);
  const statuses: string[] = [];
  one.on("status", ({ status }) => statuses.push(status));
  await atAda.join();
  await one.flush();
  const other = open(await join(meeting, "Ben"));
  await shows(other, "before");
  const lost = nextOf(atAda, "reconnecting");
  proxy.cut();
  await lost;
  expect([one.status, one.synced]).toEqual(["connecting", false]);
  textOf(one).insert(6, ", offline");
  textOf(other).insert(0, "> ");
  await Promise.all([shows(one, "> before, offline"), shows(other, "> before, offline"), synced(one)]);
  await one.flush();
  expect([one.hasUnsyncedChanges, one.status]).toEqual([false, "connected"]);
  expect(statuses).toEqual(["connected", "connecting", "connected"]);
});

it("one connection carries several documents, each as often as it is opened, beside stores (D17)", async () => {
  const meeting = await meet(service);
  const [atAda, atBen] = [await join(meeting, "Ada"), await join(meeting, "Ben")];
  const [first, second, notes] = [open(atAda), open(atAda), open(atAda, "more notes")];
  const atOther = open(atBen);
  await Promise.all([first, second, notes, atOther].map(synced));
  textOf(first).insert(0, "a");
  textOf(notes).insert(0, "n");
  await atAda.store("s").set("k", 1);
  await Promise.all([shows(second, "a"), shows(atOther, "a")]);
  first.destroy();
  textOf(second).insert(1, "b");
  await shows(atOther, "ab");
  expect([textOf(first).toString(), textOf(notes).toString()]).toEqual(["a", "n"]);
});

it("a document whose question is lost holds no other one up, and asks again (D17)", async () => {
  const meeting = await meet(service);
  const ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  const clock = new Clock();
  let isDeaf = true;
  /** Loses the first binary frame: the question about the first document. */
  const openLossy = (url: string): WebSocket => {
    const socket = DEFAULT_RUNTIME.open(url);
    const send = socket.send.bind(socket);
    return Object.assign(socket, {
      send: (frame: string | Uint8Array<ArrayBuffer>) => {
        if (typeof frame === "string" || !isDeaf) send(frame);
        else isDeaf = false;
      },
    });
  };
  const client = clientOf(ada, { serverUrl: service.url }, Object.assign(clock, { open: openLossy }));
  const [lost, other] = [open(client), open(client, "more notes")];
  await client.join();
  clock.advance(20_000);
  // The response arrives after the pong.
  await client.store("notes").set("1", "here");
  clock.advance(10_000);
  await Promise.all([other, lost].map(synced));
  expect([other.synced, lost.synced]).toEqual([true, true]);
});

it("the changes of one turn are one update, and those of a flood are fewer than its frames may be (R60)", async () => {
  const meeting = await meet(service);
  const [atAda, atBen] = [await join(meeting, "Ada"), await join(meeting, "Ben")];
  const [one, other] = [open(atAda), open(atBen)];
  await Promise.all([one, other].map(synced));
  for (let turn = 0; turn < 1_500; turn += 1) {
    textOf(one).insert(0, "x");
    textOf(one).insert(0, "y");
    await Promise.resolve();
  }
  await Promise.all([one.flush(), shows(other, "yx".repeat(1_500))]);
  expect(atAda.socket.state).toBe("connected");
});

it("a viewer learns why its changes are refused, and a deleted document stays closed (D10, D16, D18)", async () => {
  const meeting = await meet(service);
  const { customer, roomId } = meeting;
  const editor = open(await join(meeting, "Ada"));
  textOf(editor).insert(0, "yes");
  await editor.flush();
  const vera = await customer.send<{ user: { token: string } }>("POST", "/users", {
    name: "Vera",
    roomId,
    role: "viewer",
  });
  const atVera = clientOf(vera.data.user, { serverUrl: service.url });
  await atVera.join();
  const viewer = open(atVera);
  await shows(viewer, "yes");
  await until(viewer, () => !viewer.hasUnsyncedChanges);
  const refused = next("a refusal", (listener: (payload: { reason: string }) => void) =>
    viewer.on("refused", listener),
  );
  textOf(viewer).insert(0, "no");
  expect(await refused).toEqual({ reason: "You may not do this: the permission documents:write is missing" });
  expect(viewer.hasUnsyncedChanges).toBe(true);
  const closed = next("the end", (listener: (payload: { reason: string }) => void) =>
    editor.on("closed", listener),
  );
  await customer.send("DELETE", `/rooms/${roomId}/documents/notes`);
  expect(await closed).toEqual({ reason: "document deleted" });
  expect(editor.status).toBe("disconnected");
  editor.connect();
  await synced(editor);
  await editor.flush();
});

it("everyone sees who is in the document, also y-websocket's clients, until they leave it (D12, D18)", async () => {
  const meeting = await meet(service);
  const { customer, roomId } = meeting;
  const [atAda, atBen] = [await join(meeting, "Ada"), await join(meeting, "Ben")];
  const [one, other] = [open(atAda), open(atBen)];
  const { token } = await customer.createUser(roomId, "Cem");
  const documents = `${customer.base.replace("http", "ws")}/rooms/${roomId}/documents`;
  const foreign = new WebsocketProvider(documents, "notes/sync", new Y.Doc(), {
    protocols: ["atrium", token],
    disableBc: true,
  });
  onTestFinished(() => foreign.destroy());
  one.awareness.setLocalState({ name: "Ada" });
  foreign.awareness.setLocalState({ name: "Cem" });
  const names = ({ awareness }: DocumentProvider) =>
    [...awareness.getStates().values()]
      .flatMap(({ name }) => (name === undefined ? [] : [String(name)]))
      .sort()
      .join();
  await until(other, () => names(other) === "Ada,Cem");
  one.disconnect();
  await until(other, () => names(other) === "Cem");
  expect(one.awareness.getLocalState()).toEqual({ name: "Ada" });
  one.connect();
  await until(other, () => names(other) === "Ada,Cem");
  await until(one, () => names(one) === "Ada,Cem");
});

it("opening a document, and coming back to it, counts no change that was not made (D17)", async () => {
  const meeting = await meet(service);
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const ada = clientOf(await meeting.customer.createUser(meeting.roomId, "Ada"), { serverUrl: proxy.url });
  const reports: unknown[] = [];
  ada.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
  const one = open(ada);
  await ada.join();
  const answered = async (provider: DocumentProvider) => {
    await synced(provider);
    await ada.comments.list(); // the room's question has arrived before its response
  };
  await answered(one);
  for (const change of [() => textOf(one).insert(0, "Hello"), () => textOf(one).delete(0, 5)]) {
    change();
    await one.flush();
    const lost = nextOf(ada, "reconnecting");
    proxy.cut();
    await lost;
    await answered(one);
  }
  expect(reports).toEqual([true, false, true, false]);

  const filled = new Y.Doc();
  filled.getText("text").insert(0, "filled before");
  const other = open(ada, "other", filled);
  await answered(other);
  await other.flush();
  expect(reports.slice(4)).toEqual([true, false]);
  const atBo = open(await join(meeting, "Bo"), "other");
  await shows(atBo, "filled before");
});

it("Hocuspocus' client says that all is stored after all is, also if it has deleted without a connection (D9)", async () => {
  const meeting = await meet(service);
  const { customer, roomId } = meeting;
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const other = open(await join(meeting, "Ada"));
  const { token } = await customer.createUser(roomId, "Ben");
  const held: (() => void)[] = [];
  let isHolding = false;
  /** An uplink that passes small frames only. */
  class Uplink extends NodeWebSocket {
    override send(frame: Uint8Array): void {
      const pass = () => super.send(frame);
      if (isHolding && frame.length > PASTE.length) held.push(pass);
      else pass();
    }
  }
  const path = new URL(`${customer.base}/rooms/${roomId}/documents`).pathname;
  const websocketProvider = new HocuspocusProviderWebsocket({
    ...{ url: proxy.url.replace("http", "ws") + path, WebSocketPolyfill: Uplink },
    ...{ delay: 50, minDelay: 50, maxDelay: 200, jitter: false },
  });
  const provider = new HocuspocusProvider({ websocketProvider, name: "notes", token });
  onTestFinished(() => {
    provider.destroy();
    websocketProvider.destroy();
  });
  const happened = (event: string, emitter: HocuspocusProvider | HocuspocusProviderWebsocket = provider) =>
    new Promise<void>((resolve) => emitter.on(event, () => resolve()));
  provider.attach();
  const text = provider.document.getText("text");
  text.insert(0, "x");
  await shows(other, "x");
  const lost = happened("disconnect", websocketProvider);
  proxy.shut();
  await lost;
  text.delete(0, 1);
  text.insert(0, PASTE);
  isHolding = true;
  proxy.open();
  await shows(other, "");
  // Awareness follows the status of the deletion, if there is one.
  const seen = happened("awarenessChange");
  other.awareness.setLocalState({ name: "Ada" });
  await seen;
  expect([provider.hasUnsyncedChanges, held.length > 0]).toEqual([true, true]);
  isHolding = false;
  for (const pass of held) pass();
  await shows(other, PASTE);
  while (provider.hasUnsyncedChanges) await happened("unsyncedChanges");
});

it("leaving waits for documents, and reports those that are not stored (D17)", async () => {
  const meeting = await meet(service);
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  const atAda = clientOf(ada, { serverUrl: proxy.url });
  const one = open(atAda);
  const reports: unknown[] = [];
  atAda.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
  atAda.on("changesDiscarded", ({ writes, documents }) => reports.push(writes, documents));
  await atAda.join();
  await synced(one);
  await atAda.flush();
  const lost = nextOf(atAda, "reconnecting");
  proxy.shut();
  await lost;
  reports.length = 0;
  textOf(one).insert(0, "kept");
  expect([atAda.hasUnsyncedChanges, reports]).toEqual([true, [true]]);
  await expect(atAda.flush({ timeoutMs: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  const left = atAda.leave({ timeoutMs: 100_000 });
  proxy.open();
  await left;
  expect([atAda.hasUnsyncedChanges, atAda.socket.state, reports]).toEqual([false, "closed", [true, false]]);
  const other = open(await join(meeting, "Ben"));
  await shows(other, "kept");

  await atAda.join();
  await synced(one);
  textOf(one).insert(4, "!");
  const flushed = expect(atAda.flush()).rejects.toMatchObject({ code: "DISCONNECTED" });
  atAda.disconnect();
  await flushed;
  expect([atAda.hasUnsyncedChanges, reports.slice(-2)]).toEqual([true, [[], ["notes"]]]);
});

it("a page asks before it is closed while a document has unsynced changes, if its option says so (D17)", async () => {
  const { customer, roomId } = await meet(service);
  const { token } = await customer.createUser(roomId, "Ada");
  for (const warnBeforeUnload of [false, true]) {
    const page = new EventTarget();
    const listen: Runtime["listen"] = (event, action) => {
      page.addEventListener(event, action);
      return () => page.removeEventListener(event, action);
    };
    const options = { serverUrl: service.url, authToken: token, warnBeforeUnload };
    const ada = new AtriumClient(options, { ...DEFAULT_RUNTIME, listen });
    const asks = () => !page.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    const one = open(ada);
    expect(asks()).toBe(false);
    textOf(one).insert(0, "typed");
    expect(asks()).toBe(warnBeforeUnload);
    await ada.join();
    await ada.leave();
    expect(asks()).toBe(false);
  }
});

it("a viewer's refused changes do not hold up its client (D10)", async () => {
  const { customer, roomId } = await meet(service);
  const data = { name: "Vera", roomId, role: "viewer" };
  const vera = await customer.send<{ user: { token: string } }>("POST", "/users", data);
  const atVera = clientOf(vera.data.user, { serverUrl: service.url });
  await atVera.join();
  const viewer = open(atVera);
  await synced(viewer);
  await atVera.flush();
  textOf(viewer).insert(0, "no");
  expect(atVera.hasUnsyncedChanges).toBe(true);
  await atVera.leave({ timeoutMs: 100_000 });
  expect([atVera.hasUnsyncedChanges, viewer.hasUnsyncedChanges]).toEqual([false, true]);
});

/** A viewer's document, synchronized, and the functions that change the viewer's role. */
async function meetViewer() {
  const meeting = await meet(service);
  const { customer, roomId } = meeting;
  const data = { name: "Vera", roomId, role: "viewer" };
  const { user } = (await customer.send<{ user: { id: string; token: string } }>("POST", "/users", data))
    .data;
  const client = clientOf(user, { serverUrl: service.url });
  await client.join();
  const viewer = open(client);
  await synced(viewer);
  await client.flush();
  const become = async (role: "viewer" | "editor") => {
    const changed = next(`the role ${role}`, (listener: (role: string) => void) =>
      client.on("roleChanged", listener),
    );
    await customer.send("PATCH", `/users/${user.id}?roomId=${roomId}`, { role });
    await changed;
  };
  return { meeting, client, viewer, become };
}

const REFUSED = { code: "FORBIDDEN", message: expect.stringContaining("documents:write") };

it("a change that the room takes ends a refusal, and brings the refused ones along (D3, D10)", async () => {
  const { meeting, viewer, become } = await meetViewer();
  const other = open(await join(meeting, "Ben"));
  const reports: unknown[] = [];
  viewer.on("error", (error) => reports.push(error?.code ?? null));
  for (const word of ["no ", "never "]) {
    textOf(viewer).insert(0, word);
    await expect(viewer.flush()).rejects.toMatchObject(REFUSED);
  }
  expect([viewer.error, viewer.hasUnsyncedChanges]).toEqual([expect.objectContaining(REFUSED), true]);
  await become("editor");
  textOf(viewer).insert(0, "now ");
  await viewer.flush();
  await shows(other, "now never no ");
  expect([viewer.error, viewer.hasUnsyncedChanges, reports]).toEqual([null, false, ["FORBIDDEN", null]]);
});

it("a deletion is stored without the changes that were refused before it, and after a cut all are sent (D17)", async () => {
  const { meeting, client, viewer, become } = await meetViewer();
  const other = open(await join(meeting, "Ben"));
  textOf(other).insert(0, "long");
  await shows(viewer, "long");
  textOf(viewer).insert(4, "er");
  await expect(viewer.flush()).rejects.toMatchObject(REFUSED);
  await become("editor");
  textOf(viewer).delete(0, 3);
  await shows(other, "g");
  await expect(viewer.flush()).rejects.toMatchObject(REFUSED);
  client.disconnect();
  expect([viewer.status, viewer.error, client.hasUnsyncedChanges]).toEqual([
    "disconnected",
    expect.objectContaining(REFUSED),
    false,
  ]);
  await client.join();
  await shows(other, "ger");
  await viewer.flush();
  expect(viewer.error).toBeNull();
});

it("discarding gives another provider with what the room has, and with the user's own awareness (D10, D17)", async () => {
  const { meeting, client, viewer, become } = await meetViewer();
  const other = open(await join(meeting, "Ben"));
  textOf(other).insert(0, "yes");
  await shows(viewer, "yes");
  viewer.awareness.setLocalState({ name: "Vera" });
  textOf(viewer).insert(0, "no");
  await expect(viewer.flush()).rejects.toMatchObject(REFUSED);
  textOf(viewer).insert(0, "never");
  const fresh = viewer.discard();
  onTestFinished(() => fresh.destroy());
  expect([viewer.status, fresh.error, fresh.hasUnsyncedChanges]).toEqual(["disconnected", null, false]);
  await viewer.flush();
  expect([viewer.hasUnsyncedChanges, client.hasUnsyncedChanges]).toEqual([false, false]);
  await shows(fresh, "yes");
  const isThere = () => [...other.awareness.getStates().values()].some(({ name }) => name === "Vera");
  await until(other, isThere);
  await client.flush();
  await become("editor");
  textOf(fresh).insert(3, "!");
  await fresh.flush();
  await shows(other, "yes!");
});

it("a change that is too large is refused before it is sent, and so is all that is written on it (D2)", async () => {
  const meeting = await meet(service);
  const ada = await join(meeting, "Ada");
  const one = open(ada);
  await synced(one);
  const reasons: string[] = [];
  one.on("refused", ({ reason }) => reasons.push(reason));
  textOf(one).insert(0, "x".repeat(9 * 1024 * 1024));
  await expect(one.flush()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  textOf(one).insert(0, "y");
  await expect(one.flush()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(reasons).toEqual(
    Array(2).fill("The change is larger than 8 MiB, the most that a room takes at once"),
  );
  await ada.flush();
  const fresh = one.discard();
  onTestFinished(() => fresh.destroy());
  textOf(fresh).insert(0, "short");
  await fresh.flush();
  expect([fresh.error, textOf(fresh).toString()]).toEqual([null, "short"]);
});

it("a document that was deleted says so until it is connected again, or begun anew (D16)", async () => {
  const meeting = await meet(service);
  const one = open(await join(meeting, "Ada"));
  const remove = async () => {
    textOf(one).insert(0, "x");
    await one.flush();
    const closed = next("the end", (listener: (payload: { reason: string }) => void) =>
      one.on("closed", listener),
    );
    await meeting.customer.send("DELETE", `/rooms/${meeting.roomId}/documents/notes`);
    await closed;
    expect(one.error?.message).toBe("document deleted");
  };
  await remove();
  one.connect();
  await synced(one);
  await one.flush();
  await until(one, () => one.error === null);
  await remove();
  const fresh = one.discard();
  onTestFinished(() => fresh.destroy());
  await synced(fresh);
  expect([fresh.error, textOf(fresh).toString()]).toEqual([null, ""]);
});

it("what is typed after the user was removed counts as unsynced, with the reason (D17)", async () => {
  const meeting = await meet(service);
  const ada = await join(meeting, "Ada");
  const one = open(ada);
  await synced(one);
  const failed = nextOf(ada, "failed");
  await meeting.customer.send("DELETE", `/users/${ada.userId}?roomId=${meeting.roomId}`);
  const { code, message } = (await failed).error;
  textOf(one).insert(0, "late");
  expect([code, ada.hasUnsyncedChanges]).toEqual(["UNAUTHORIZED", true]);
  await expect(ada.flush()).rejects.toMatchObject({ code, message });
});
