/** An inbox as its caller sees it: the items of rooms that the caller may enter at that moment. */

import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { type InboxAccess, type InboxCaller, visibleRooms } from "../recipients/access.ts";
import type { InboxChanges } from "./change-store.ts";
import type { InboxStore, ItemPosition, ItemsPage } from "./inbox-store.ts";
import type { ChangedItem, InboxChange, InboxItem } from "./present.ts";

export interface InboxPage {
  readonly notifications: readonly InboxNotification[];
  /** The last item, if others may follow. */
  readonly next: { readonly notifiedAt: number; readonly id: string } | null;
}

/** Reads the access to rooms, in one trip. */
type ReadAccess = (roomIds: readonly string[]) => Promise<InboxAccess>;

interface ViewPorts {
  readonly inbox: InboxStore;
  readonly changes: InboxChanges;
  now(): number;
  readonly readAccess: ReadAccess;
  push(change: InboxChange): void;
}

/** A list with hidden items looks at so many times as many next: access to all rooms of an inbox takes six reads. */
const MORE_LOOKED_AT = 4;

export class InboxView {
  readonly #ports: ViewPorts;
  readonly #caller: InboxCaller;

  constructor(caller: InboxCaller, ports: ViewPorts) {
    this.#caller = caller;
    this.#ports = ports;
  }

  /** A page of the items, newest first. Null without the identity. */
  async list(page: ItemsPage): Promise<InboxPage | null> {
    const { inbox, now, readAccess } = this.#ports;
    const hidden = (access: AskedAccess) => {
      const visible = new Set(visibleRooms(access, this.#caller));
      return [...access.asked].filter((id) => !visible.has(id));
    };
    let looked = page.limit;
    const access = await askAccess(readAccess, (known) => {
      const items = inbox.list({ ...page, limit: looked }, hidden(known), now());
      looked *= MORE_LOOKED_AT;
      const isComplete = items.slice(0, page.limit).every(({ roomId }) => known.asked.has(roomId));
      return isComplete ? [] : items.map(({ roomId }) => roomId);
    });
    return access.epochs && pageOf(inbox, page, hidden(access), now());
  }

  /** The number of unread items. Null without the identity. */
  async count(): Promise<number | null> {
    const access = await this.#readCounted();
    return access.epochs && this.#countUnread(access);
  }

  /**
   * Marks an item as read up to a seq; with null, up to its latest activity at the time of the call. Returns how many items
   * are unread after it, null unless the caller sees the item.
   */
  async markItem(id: string, upTo: number | null): Promise<number | null> {
    const item = this.#ports.inbox.find(id);
    const access = await this.#readCounted(roomsOf(item));
    if (!this.#sees(access, id)) return null;
    this.#mark([{ id, upTo: upTo ?? item?.seq ?? 0 }]);
    return this.#countUnread(access);
  }

  /** Marks all items as they are at the time of the call. Returns how many are unread after it, null without the identity. */
  async markAll(): Promise<number | null> {
    const { inbox, now } = this.#ports;
    const unread = inbox.unreadItems(now());
    const access = await this.#readCounted();
    if (access.epochs === null) return null;
    const shown = new Set(visibleRooms(access, this.#caller));
    this.#mark(unread.filter(({ roomId }) => shown.has(roomId)));
    return this.#countUnread(access);
  }

  /** Deletes an item as it is at the time of the call; a later activity shows it again. False unless the caller sees it. */
  async deleteItem(id: string): Promise<boolean> {
    const { inbox, readAccess } = this.#ports;
    const upTo = inbox.find(id)?.seq ?? 0;
    const access = await askAccess(readAccess, () => roomsOf(inbox.find(id)));
    if (!this.#sees(access, id)) return false;
    this.#delete([{ id, upTo }]);
    return true;
  }

  /** Deletes all items as they are at the time of the call, also those of rooms that the identity may not enter now; of a narrowed token those that it sees. */
  async deleteAll(): Promise<boolean> {
    const { inbox, now, readAccess } = this.#ports;
    const shown = inbox.shownItems();
    const isNarrowed = this.#caller.rooms !== undefined;
    const access = await askAccess(readAccess, () => (isNarrowed ? inbox.rooms(now()) : []));
    if (access.epochs === null) return false;
    const rooms = isNarrowed ? new Set(visibleRooms(access, this.#caller)) : null;
    this.#delete(shown.filter(({ roomId }) => rooms?.has(roomId) ?? true));
    return true;
  }

  #readCounted(roomIds: readonly string[] = []): Promise<InboxAccess> {
    const { inbox, now, readAccess } = this.#ports;
    return readCounted(inbox, readAccess, now, roomIds);
  }

  #countUnread(access: InboxAccess): number {
    const { inbox, now } = this.#ports;
    return countUnread(inbox, access, this.#caller, now());
  }

  #sees(access: InboxAccess, id: string): boolean {
    const item = access.epochs && this.#ports.inbox.find(id);
    return item !== null && visibleRooms(access, this.#caller).includes(item.roomId);
  }

  #mark(positions: readonly ItemPosition[]): void {
    const { changes, now, push } = this.#ports;
    if (positions.length > 0) push({ type: "read", items: changes.markItems(positions, now()) });
  }

  #delete(positions: readonly ItemPosition[]): void {
    const { inbox, changes, push } = this.#ports;
    if (positions.length === 0) return;
    for (const change of changesOf(inbox, changes.deleteItems(positions))) push(change);
  }
}

/** The changes for sockets of items of which some are still shown, with other activities. */
export function changesOf(inbox: InboxStore, changed: readonly ChangedItem[]): readonly InboxChange[] {
  const shown = new Set(changed.filter(({ id }) => inbox.find(id) !== null));
  const deleted = changed.filter((item) => !shown.has(item));
  return [
    { type: "deleted", items: deleted },
    { type: "updated", items: [...shown] },
  ];
}

export function pageOf(
  inbox: InboxStore,
  page: ItemsPage,
  hiddenRooms: readonly string[],
  now: number,
): InboxPage {
  const items = inbox.list(page, hiddenRooms, now);
  const last = items.at(-1);
  return {
    notifications: inbox.present(items),
    next:
      last === undefined || items.length < page.limit ? null : { notifiedAt: last.notifiedAt, id: last.id },
  };
}

/** The unread items that the caller sees. */
export function countUnread(
  store: InboxStore,
  access: InboxAccess,
  caller: InboxCaller,
  now: number,
): number {
  const shown = new Set(visibleRooms(access, caller));
  return [...store.unreadByRoom(now)].reduce((sum, [id, count]) => (shown.has(id) ? sum + count : sum), 0);
}

/** The access to the rooms of the unread items, which are counted, and to these. */
export const readCounted = (
  inbox: InboxStore,
  readAccess: ReadAccess,
  now: () => number,
  roomIds: readonly string[] = [],
): Promise<InboxAccess> => askAccess(readAccess, () => [...inbox.unreadByRoom(now()).keys(), ...roomIds]);

/** Access with the rooms that were asked for, of which `rooms` has those that may be entered. */
interface AskedAccess extends InboxAccess {
  readonly asked: ReadonlySet<string>;
}

/** Reads access until `findRooms`, asked again after each read, names no room that was not asked for. */
async function askAccess(
  readAccess: ReadAccess,
  findRooms: (access: AskedAccess) => readonly string[],
): Promise<AskedAccess> {
  let access: AskedAccess = { epochs: null, rooms: new Map(), asked: new Set([""]) };
  const findUnknown = () => [...new Set(findRooms(access))].filter((id) => !access.asked.has(id));
  let unknown = findUnknown();
  do {
    const { epochs, rooms } = await readAccess(unknown);
    access = {
      epochs,
      rooms: new Map([...access.rooms, ...rooms]),
      asked: new Set([...access.asked, ...unknown]),
    };
    unknown = findUnknown();
  } while (unknown.length > 0);
  return access;
}

const roomsOf = (item: InboxItem | null): readonly string[] => (item === null ? [] : [item.roomId]);
