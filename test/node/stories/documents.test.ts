/** Documents across the network: the published clients of y-websocket and Hocuspocus edit one document together. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { sharedService } from "../cli/shared-service.ts";
import { Customer } from "./client.ts";

const service = await sharedService();
const customer = new Customer(service, service);
const roomId = (await customer.createRoom()).id;
const documents = `${customer.base.replace("http", "ws")}/rooms/${roomId}/documents`;

const userOf = async (role: string) =>
  (
    await customer.send<{ user: { id: string; token: string } }>("POST", "/users", {
      name: "Ada",
      roomId,
      role,
    })
  ).data.user;

const token = async (role = "editor") => (await userOf(role)).token;

/** A short-lived token, as addresses need it. */
const shortToken = async () => {
  const { id } = await userOf("editor");
  const path = `/users/${id}/tokens?roomId=${roomId}`;
  return (await customer.send<{ token: string }>("POST", path, { ttl: 900 })).data.token;
};

const textOf = (doc: Y.Doc) => doc.getText("text");

/** Waits until the document has this text. */
const until = (doc: Y.Doc, text: string) =>
  new Promise<void>((resolve) => {
    const check = () => {
      if (textOf(doc).toString() === text) resolve();
    };
    doc.on("update", check);
    check();
  });

const event = (provider: WebsocketProvider | HocuspocusProvider, name: string) =>
  new Promise<unknown>((resolve) => {
    const on = provider.on.bind(provider) as (name: string, listener: (data: unknown) => void) => void;
    on(name, resolve);
  });

function byYWebsocket(name: string, options: { token: string; inAddress?: boolean }) {
  const doc = new Y.Doc();
  const credential = options.inAddress
    ? { params: { token: options.token } }
    : { protocols: ["atrium", options.token] };
  const provider = new WebsocketProvider(documents, `${name}/sync`, doc, { ...credential, disableBc: true });
  onTestFinished(() => provider.destroy());
  return { doc, provider, synced: event(provider, "sync") };
}

function byHocuspocus(name: string, options: { token: string; url?: string }) {
  const doc = new Y.Doc();
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: options.url ?? documents,
    WebSocketPolyfill: NodeWebSocket,
  });
  const provider = new HocuspocusProvider({ websocketProvider, name, document: doc, token: options.token });
  provider.attach();
  onTestFinished(() => {
    provider.destroy();
    websocketProvider.destroy();
  });
  return { doc, provider, synced: event(provider, "synced") };
}

it("both clients edit one document, one goes offline and returns, and nothing is lost (D1, D9)", async () => {
  const one = byYWebsocket("notes", { token: await shortToken(), inAddress: true });
  const other = byHocuspocus("notes", { token: await token() });
  await Promise.all([one.synced, other.synced]);
  textOf(one.doc).insert(0, "Hello");
  await until(other.doc, "Hello");
  one.provider.disconnect();
  textOf(one.doc).insert(5, ", offline");
  textOf(other.doc).insert(0, "> ");
  one.provider.connect();
  await Promise.all([until(one.doc, "> Hello, offline"), until(other.doc, "> Hello, offline")]);
  const later = byYWebsocket("notes", { token: await token("viewer") });
  await later.synced;
  expect(textOf(later.doc).toString()).toBe("> Hello, offline");
});

it("Hocuspocus' client knows when its changes are stored, and sees who is there (D9, D12)", async () => {
  const one = byHocuspocus("status", { token: await token() });
  const other = byHocuspocus("status", { token: await token() });
  await Promise.all([one.synced, other.synced]);
  one.provider.setAwarenessField("user", { name: "Ada" });
  textOf(one.doc).insert(0, "stored");
  await until(other.doc, "stored");
  const isThere = () =>
    [...(other.provider.awareness?.getStates().values() ?? [])].some((state) => state.user);
  while (!isThere()) await event(other.provider, "awarenessUpdate");
  while (one.provider.hasUnsyncedChanges) await event(one.provider, "unsyncedChanges");
  expect(one.provider.authorizedScope).toBe("read-write");
});

it("a viewer changes nothing, and a refused token is reported with its reason (D10, D13)", async () => {
  const viewer = byHocuspocus("readonly", { token: await token("viewer") });
  await viewer.synced;
  expect(viewer.provider.authorizedScope).toBe("readonly");
  textOf(viewer.doc).insert(0, "no");
  const editor = byYWebsocket("readonly", { token: await token() });
  await editor.synced;
  expect(textOf(editor.doc).toString()).toBe("");
  const stranger = byHocuspocus("readonly", { token: "no token" });
  expect(await event(stranger.provider, "authenticationFailed")).toMatchObject({
    reason: "The token is invalid or has expired",
  });
});
