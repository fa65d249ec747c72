/** Pushes the changes of inboxes to their sockets, each with the count that is right when it is sent. */

import { CLOSE } from "../../../room/protocol/protocol.ts";
import { type InboxAccess, type InboxCaller, visibleRooms } from "../recipients/access.ts";
import { attachmentOf, type InboxSockets, type Joined } from "./inbox-sockets.ts";
import type { InboxStore } from "./inbox-store.ts";
import { countUnread } from "./inbox-view.ts";
import type { InboxChange } from "./present.ts";

interface PushPorts {
  readonly sockets: InboxSockets;
  now(): number;
  store(identityId: string): InboxStore;
  /** The access to the rooms of the unread items, as they are when it is returned, and of others. */
  readAccess(identityId: string, roomIds: readonly string[]): Promise<InboxAccess>;
  waitUntil(work: Promise<unknown>): void;
  report(what: string, error: unknown): void;
}

const EVENTS = {
  updated: "inboxUpdated",
  recounted: "inboxUpdated",
  read: "inboxRead",
  deleted: "inboxDeleted",
} as const;
/** More items are named by none of their IDs. */
const MAX_NAMED = 100;

export class InboxPushes {
  readonly #ports: PushPorts;
  /** By identity, the changes that are to follow those which are being pushed, and the end of pushing. */
  readonly #pushing = new Map<string, { readonly changes: InboxChange[]; readonly end: Promise<void> }>();
  /** Identities whose sockets are to receive their count anew. */
  readonly #recounts = new Set<string>();
  #isRecounting = false;
  #recounted = 0;

  constructor(ports: PushPorts) {
    this.#ports = ports;
  }

  /** Counts the identities that were ever recounted, for joins that read access meanwhile. */
  get recounted(): number {
    return this.#recounted;
  }

  /** The unread items that a caller sees, and the number of the latest change. */
  counted(access: InboxAccess, caller: InboxCaller) {
    const store = this.#ports.store(caller.identityId);
    return { unread: countUnread(store, access, caller, this.#ports.now()), seq: store.seq };
  }

  /** Pushes a change of an inbox behind the earlier ones, if there is a socket. */
  push(identityId: string, change: InboxChange): void {
    const isEmpty = change.items.length === 0 && change.type !== "recounted";
    if (isEmpty || this.#ports.sockets.in("joined", identityId).length === 0) return;
    const pushing = this.#pushing.get(identityId);
    if (pushing !== undefined) {
      pushing.changes.push(change);
      return;
    }
    const changes = [change];
    const end = this.#pushAll(identityId, changes);
    this.#pushing.set(identityId, { changes, end });
    this.#ports.waitUntil(end);
  }

  /** Pushes to identities that others of their items may be shown: one after the other, so that the database is not flooded. */
  recount(identityIds: readonly string[]): void {
    for (const identityId of identityIds) this.#recounts.add(identityId);
    this.#recounted += identityIds.length;
    if (this.#isRecounting || this.#recounts.size === 0) return;
    this.#isRecounting = true;
    this.#ports.waitUntil(this.#recountAll());
  }

  async #recountAll(): Promise<void> {
    for (const identityId of this.#recounts) {
      this.#recounts.delete(identityId);
      this.push(identityId, { type: "recounted", items: [] });
      await this.#pushing.get(identityId)?.end;
    }
    this.#isRecounting = false;
  }

  async #pushAll(identityId: string, changes: InboxChange[]): Promise<void> {
    const { sockets } = this.#ports;
    while (changes.length > 0) {
      try {
        await this.#pushSome(identityId, changes.splice(0));
      } catch (error) {
        this.#ports.report("Changes of an inbox could not be pushed", error);
        for (const socket of sockets.in("joined", identityId))
          sockets.close(socket, CLOSE.failed, "try again");
      }
    }
    this.#pushing.delete(identityId);
  }

  async #pushSome(identityId: string, changes: readonly InboxChange[]): Promise<void> {
    const { sockets } = this.#ports;
    if (sockets.in("joined", identityId).length === 0) return;
    const rooms = new Set(changes.flatMap(({ items }) => items.map(({ roomId }) => roomId)));
    const access = await this.#ports.readAccess(identityId, [...rooms]);
    sockets.closeEnded(sockets.in("joined", identityId), access);
    for (const socket of sockets.in("joined", identityId)) {
      const caller = attachmentOf(socket) as Joined;
      const shown = new Set(visibleRooms(access, caller));
      const counted = this.counted(access, caller);
      for (const { type, items } of changes) {
        const ids = items.filter(({ roomId }) => shown.has(roomId)).map(({ id }) => id);
        if (ids.length === 0 && type !== "recounted") continue;
        if (type === "notified") this.#pushNotified(socket, identityId, ids, counted);
        else {
          const notificationIds = ids.length > MAX_NAMED || type === "recounted" ? null : ids;
          const data = { notificationIds, ...counted };
          sockets.send(socket, { type: "event", event: EVENTS[type], data });
        }
      }
    }
  }

  #pushNotified(socket: WebSocket, identityId: string, ids: readonly string[], counted: object): void {
    const { sockets } = this.#ports;
    const store = this.#ports.store(identityId);
    const items = ids.flatMap((id) => store.find(id) ?? []); // without those that were deleted meanwhile
    for (const notification of store.present(items))
      sockets.send(socket, { type: "event", event: "inboxNotification", data: { notification, ...counted } });
  }
}
