/** Documents of the SDK over a running service: several providers, cuts, refusals, and who is there. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import { DEFAULT_RUNTIME, type Runtime } from "../../src/sdk/core/runtime.ts";
import { type DocumentClient, type DocumentProvider, openDocument } from "../../src/sdk/documents/index.ts";
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
  const told: unknown[] = [];
  ada.on("unsyncedChanges", (hasUnsynced) => told.push(hasUnsynced));
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
  expect(told).toEqual([true, false, true, false]);

  const filled = new Y.Doc();
  filled.getText("text").insert(0, "filled before");
  const other = open(ada, "other", filled);
  await answered(other);
  await other.flush();
  expect(told.slice(4)).toEqual([true, false]);
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
  // It follows the status of the deletion, if there is one.
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
  const told: unknown[] = [];
  atAda.on("unsyncedChanges", (hasUnsynced) => told.push(hasUnsynced));
  atAda.on("changesDiscarded", ({ writes, documents }) => told.push(writes, documents));
  await atAda.join();
  await synced(one);
  await atAda.flush();
  const lost = nextOf(atAda, "reconnecting");
  proxy.shut();
  await lost;
  told.length = 0;
  textOf(one).insert(0, "kept");
  expect([atAda.hasUnsyncedChanges, told]).toEqual([true, [true]]);
  await expect(atAda.flush({ timeoutMs: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  const left = atAda.leave({ timeoutMs: 100_000 });
  proxy.open();
  await left;
  expect([atAda.hasUnsyncedChanges, atAda.socket.state, told]).toEqual([false, "closed", [true, false]]);
  const other = open(await join(meeting, "Ben"));
  await shows(other, "kept");

  await atAda.join();
  await synced(one);
  textOf(one).insert(4, "!");
  const flushed = expect(atAda.flush()).rejects.toMatchObject({ code: "DISCONNECTED" });
  atAda.disconnect();
  await flushed;
  expect([atAda.hasUnsyncedChanges, told.slice(-2)]).toEqual([true, [[], ["notes"]]]);
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
