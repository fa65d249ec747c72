/** The Durable Object of an identity's inbox: its items and how far they are read, and the identity's sockets. */
import * as z from "zod";
import { ADDRESS_HEADER, type InboxDelivery } from "../../delivery/inboxes.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import { DAY_MS } from "../../platform/time.ts";
import { CLOSE } from "../../room/protocol/protocol.ts";
import type { InboxActivity, InboxPosition, InboxRemoval } from "../../wire/inbox.ts";
import { patched } from "../../wire/merge-patch.ts";
import {
  type NotificationDefaults,
  NotificationSettings,
  type NotificationSettingsUpdate,
} from "../../wire/notification-settings.ts";
import type { Sending } from "../../wire/sent-notification.ts";
import { type InboxAccess, type Viewer, visibleRooms } from "./access.ts";
import { InboxChannels } from "./channels.ts";
import type { InboxExport, InboxPage, InboxPorts, MailContent, SentInbox } from "./inbox-ports.ts";
import { countUnread, type InboxKey, InboxSockets } from "./inbox-sockets.ts";
import { InboxStore, type ItemsPage } from "./inbox-store.ts";
import { SCHEMA } from "./inbox-tables.ts";
import { type PushTarget, PushTargets } from "./push-store.ts";
import { type ChangedItem, type InboxItem, type InboxNotification, presentNotification } from "./schema.ts";

const PRUNE_EVERY_MS = DAY_MS;
const PRUNE_ON_MS = 1_000;
const RETRY_MS = 60_000;
/** An inbox that changes while the database is read is read again. */
const MAX_READS = 5;

export class InboxObject extends ArchivedDurableObject<object> implements InboxDelivery {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: InboxPorts;
  readonly #alarm: DurableAlarm;
  #store: InboxStore;
  readonly #sockets: InboxSockets;
  readonly #channels: InboxChannels;
  #removals = 0;

  constructor(ctx: DurableObjectState, env: object, ports: InboxPorts) {
    super(ctx, env);
    this.#ports = ports;
    this.#store = this.#open();
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of an inbox could not be set", error),
    );
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: SCHEMA,
      open: () => {
        this.#store = this.#open();
        this.#removals = 0;
        this.#alarm.markFired();
        this.#channels.forget();
        if (this.#store.exists) this.#alarm.scheduleBy([this.#pruneAt()]);
      },
    });
    this.#sockets = new InboxSockets({
      state: ctx,
      now: () => this.clock(),
      store: () => this.#store,
      readAccess: (_, roomIds) => this.#readAccess("unread", roomIds),
      verifyToken: ports.verifyToken,
      expireAt: (time) => this.#alarm.scheduleBy([time]),
      report: (what, error) => this.#report(what, error),
    });
    this.#channels = new InboxChannels({
      store: () => this.#store,
      now: () => this.clock(),
      newId: () => crypto.randomUUID(),
      readRecipient: (roomIds) => ports.readRecipient(this.#key, roomIds),
      senders: () => ports.senders(this.#key, this.#sentInbox()),
      report: (what, error) => this.#report(what, error),
    });
  }

  #open(): InboxStore {
    return new InboxStore(this.ctx.storage, () => crypto.randomUUID());
  }

  #sentInbox(): SentInbox {
    return {
      now: () => this.clock(),
      pushTargets: new PushTargets(this.#store),
      notifications: (items) => this.#present(items.flatMap(({ id }) => this.#store.find(id) ?? [])),
    };
  }

  #present(items: readonly InboxItem[]): InboxNotification[] {
    return items.map((item) => presentNotification(item, this.#store.activitiesOf(item)));
  }

  get #key(): InboxKey {
    const [accountId, identityId] = (this.ctx.id.name ?? "").split(":");
    if (accountId === undefined || identityId === undefined)
      throw new Error("An inbox must be opened by the IDs of its organization and its identity");
    return { accountId, identityId };
  }

  /**
   * True when the inbox may be written: it has a database, or its identity exists. An identity that is deleted later
   * has its inbox removed, so only the first write has to ask.
   */
  async #mayWrite(): Promise<boolean> {
    if (this.#store.exists) return true;
    const removals = this.#removals;
    return (await this.#hasIdentity()) && removals === this.#removals;
  }

  async #hasIdentity(): Promise<boolean> {
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    return epochs !== null;
  }

  /** The next pruning: a day later, and a part of a day, since a mention has made thousands of inboxes at once. */
  #pruneAt(): number {
    const spread = Number.parseInt(this.#key.identityId.slice(0, 8), 16) / 2 ** 32;
    return this.clock() + (1 + spread) * PRUNE_EVERY_MS;
  }

  async deliver(activities: readonly InboxActivity[], defaults?: NotificationDefaults): Promise<void> {
    if (defaults === undefined ? !(await this.#mayWrite()) : this.#removals > 0) return;
    const items = this.#store.deliver(activities, this.clock());
    this.#channels.add(items, defaults);
    this.#alarm.scheduleBy([this.#pruneAt(), this.#channels.dueAt]);
    this.#sockets.push({ type: "notified", items });
  }

  async markRead(position: InboxPosition): Promise<void> {
    if (!(await this.#mayWrite())) return;
    this.#sockets.push({ type: "read", items: this.#store.markRead(position, this.clock()) });
    this.#alarm.scheduleBy([this.#pruneAt()]);
  }

  async removeItems(removal: InboxRemoval): Promise<void> {
    if (!(await this.#mayWrite())) return;
    const { roomId, kind, subjectId, activityIds } = removal;
    const changed =
      activityIds === undefined || kind === undefined || subjectId === undefined
        ? this.#store.remove(removal, this.clock())
        : this.#store.removeActivities({ roomId, kind, subjectId }, activityIds, this.clock());
    const isShown = ({ id }: ChangedItem) => this.#store.find(id) !== null;
    this.#sockets.push({ type: "deleted", items: changed.filter((item) => !isShown(item)) });
    this.#sockets.push({ type: "updated", items: changed.filter(isShown) });
    this.#alarm.scheduleBy([this.#pruneAt()]);
  }

  recount(): void {
    this.#sockets.push({ type: "recounted", items: [] });
  }

  closeSockets(): void {
    this.#sockets.closeAll();
  }

  async remove(): Promise<void> {
    this.#removals += 1;
    this.#sockets.closeAll();
    if (!(await this.archived.discard())) await this.#clear();
  }

  async #clear(): Promise<void> {
    this.#alarm.markFired();
    await this.#store.clear();
  }

  /**
   * The access to the rooms of the items, and to these. Read again while the inbox changes meanwhile, so that it is the
   * access to all of its rooms.
   */
  async #readAccess(which: "shown" | "unread", roomIds: readonly string[] = []): Promise<InboxAccess> {
    for (let reads = 1; ; reads += 1) {
      const { seq } = this.#store;
      const rooms = new Set([...this.#store.rooms(which, this.clock()), ...roomIds]);
      rooms.delete("");
      const access = await this.#ports.readAccess(this.#key, [...rooms]);
      if (this.#store.seq === seq || reads === MAX_READS) return access;
    }
  }

  /** A page of the items that the viewer sees, newest first. Null without the identity. */
  async list(viewer: Viewer, page: ItemsPage): Promise<InboxPage | null> {
    const access = await this.#readAccess("shown");
    if (access.epochs === null) return null;
    return this.#page(page, visibleRooms(access, viewer));
  }

  /** A page of all items, also those of rooms that the identity may not enter now, and all that is kept beside them. */
  export(page: ItemsPage): InboxExport {
    return {
      ...this.#page(page, null),
      settings: this.#channels.ownSettings,
      sendings: this.#channels.list(),
      pushTargets: new PushTargets(this.#store).all,
    };
  }

  #page(page: ItemsPage, rooms: readonly string[] | null): InboxPage {
    const items = this.#store.list(page, rooms, this.clock());
    const last = items.at(-1);
    return {
      notifications: this.#present(items),
      next:
        last === undefined || items.length < page.limit ? null : { notifiedAt: last.notifiedAt, id: last.id },
    };
  }

  /** The number of unread items that the viewer sees. Null without the identity. */
  async count(viewer: Viewer): Promise<number | null> {
    const access = await this.#readAccess("unread");
    return access.epochs && countUnread(this.#store, access, viewer, this.clock());
  }

  /** The item, if the viewer sees it. */
  #findVisible(access: InboxAccess, viewer: Viewer, id: string): InboxItem | null {
    const item = access.epochs && this.#store.find(id);
    return item !== null && visibleRooms(access, viewer).includes(item.roomId) ? item : null;
  }

  /**
   * Marks an item as read up to a seq; with null, up to its latest activity at the time of the call. Returns how many items
   * are unread after it, null unless the viewer sees the item.
   */
  async markItem(viewer: Viewer, id: string, upTo: number | null): Promise<number | null> {
    const latest = this.#store.find(id)?.seq ?? 0;
    const access = await this.#readAccess("shown");
    if (this.#findVisible(access, viewer, id) === null) return null;
    const items = this.#store.markItems([{ id, upTo: upTo ?? latest }], this.clock());
    this.#sockets.push({ type: "read", items });
    return countUnread(this.#store, access, viewer, this.clock());
  }

  /** Marks the items that the viewer sees, as they are at the time of the call. Returns how many are unread after it. */
  async markAll(viewer: Viewer): Promise<number | null> {
    const unread = this.#store.unreadItems(this.clock());
    const access = await this.#readAccess("unread");
    if (access.epochs === null) return null;
    const shown = new Set(visibleRooms(access, viewer));
    const positions = unread.filter(({ roomId }) => shown.has(roomId));
    if (positions.length > 0)
      this.#sockets.push({ type: "read", items: this.#store.markItems(positions, this.clock()) });
    return countUnread(this.#store, access, viewer, this.clock());
  }

  /** Deletes an item; a later activity of its subject shows it again. False unless the viewer sees it. */
  async deleteItem(viewer: Viewer, id: string): Promise<boolean> {
    if (this.#findVisible(await this.#readAccess("shown"), viewer, id) === null) return false;
    this.#sockets.push({ type: "deleted", items: this.#store.deleteItems([id]) });
    return true;
  }

  /** Deletes all items, also those of rooms that the identity may not enter now; of a narrowed token those that it sees. */
  async deleteAll(viewer: Viewer): Promise<boolean> {
    const ids = new Set(this.#store.idsIn(null));
    const access = await this.#readAccess("shown");
    if (access.epochs === null) return false;
    const rooms = viewer.rooms === undefined ? null : visibleRooms(access, viewer);
    const found = this.#store.idsIn(rooms).filter((id) => ids.has(id));
    if (found.length > 0) this.#sockets.push({ type: "deleted", items: this.#store.deleteItems(found) });
    return true;
  }

  /** An upgrade, forwarded by the Worker. */
  override fetch(request: Request): Response {
    return this.#sockets.accept(this.#key, request.headers.get(ADDRESS_HEADER) ?? "");
  }

  override async webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    await this.#sockets.receive(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#sockets.answerClose(socket, CLOSE.failed, "connection failed");
  }

  /** The settings of the identity for channels. Null without the identity. */
  async readSettings(): Promise<NotificationSettings | null> {
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    return epochs && this.#channels.settings;
  }

  /** Null without the identity; the reason for a refusal when there would be too many entries. */
  async changeSettings(update: NotificationSettingsUpdate): Promise<NotificationSettings | string | null> {
    if (!(await this.#mayWrite())) return null;
    const changed = NotificationSettings.safeParse(patched(this.#channels.settings, update));
    if (!changed.success) return z.prettifyError(changed.error);
    this.#store.setFact("settings", JSON.stringify(changed.data));
    return changed.data;
  }

  /** The browsers that have subscribed with a key, the latest first; none without a key. Null without the identity. */
  async listPushTargets(publicKey: string | null): Promise<readonly PushTarget[] | null> {
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    if (epochs === null || publicKey === null) return epochs && [];
    return new PushTargets(this.#store).list({ publicKey, epochs }, this.clock());
  }

  /** Pushes notifications to a browser from now on. False without the identity. */
  async addPushTarget(target: Omit<PushTarget, "createdAt">, publicKey: string): Promise<boolean> {
    const removals = this.#removals;
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    if (epochs === null || removals !== this.#removals) return false;
    const createdAt = this.clock();
    new PushTargets(this.#store).add({ ...target, createdAt }, { publicKey, epochs });
    return true;
  }

  /** False without the identity. */
  async removePushTarget(endpoint: string): Promise<boolean> {
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    new PushTargets(this.#store).remove(endpoint);
    return epochs !== null;
  }

  /** The sendings, also of items that were not sent, the latest first. Null without the identity. */
  async listSendings(limit: number): Promise<readonly Sending[] | null> {
    const { epochs } = await this.#ports.readAccess(this.#key, []);
    return epochs && this.#channels.list(limit);
  }

  /** The content of a queued mail to this address, as it is now; null if there is no reason for the mail any more. */
  async readMail(sendingId: string, address: string): Promise<MailContent | null> {
    const found = await this.#channels.readMail(sendingId, address);
    if (found === null) return null;
    const notifications = this.#sentInbox().notifications(found.items);
    return { notifications, link: found.recipient.defaults.link };
  }

  /** The mail was sent, or given up. */
  finishMail(sendingId: string, outcome: "sent" | "failed"): void {
    this.#channels.finish(sendingId, outcome);
  }

  /**
   * Closes sockets whose tokens have expired, and deletes what is too old. With the last of it, or without the identity,
   * the whole storage goes.
   */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    try {
      const expiresAt = this.#sockets.closeEnded();
      await this.#channels.send();
      if (this.#store.exists) {
        const isMore = this.#store.prune(this.clock());
        const { isEmpty, hasSettings } = this.#store;
        if ((isEmpty && !hasSettings) || !(await this.#hasIdentity())) await this.#clear();
        else if (!isEmpty) this.#alarm.scheduleBy([isMore ? this.clock() + PRUNE_ON_MS : this.#pruneAt()]);
      }
      this.#alarm.scheduleBy([expiresAt, this.#channels.dueAt]);
    } catch (error) {
      this.#report("The alarm of an inbox failed", error);
      this.#alarm.scheduleBy([this.clock() + RETRY_MS]);
    }
  }

  #report(what: string, error: unknown): void {
    reportFailure("delivery", what, { object: String(this.ctx.id) }, error);
  }
}
