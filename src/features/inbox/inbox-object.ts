/** The Durable Object of a shard of inboxes: what they have and how far it is read, and the sockets of their identities. */
import { ADDRESS_HEADER, IDENTITY_HEADER, type InboxDelivery } from "../../delivery/inboxes.ts";
import { forEachConcurrently } from "../../platform/flow/concurrency.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import { DAY_MS, unusedNumber } from "../../platform/time.ts";
import { CLOSE } from "../../room/protocol/protocol.ts";
import type { InboxActivity, InboxPosition, InboxRemoval } from "../../wire/inbox.ts";
import type {
  NotificationDefaults,
  NotificationSettings,
  NotificationSettingsUpdate,
} from "../../wire/notification-settings.ts";
import type { Outcome, Sending } from "../../wire/sent-notification.ts";
import { type InboxAccess, type Viewer, visibleRooms } from "./access.ts";
import { InboxChannels } from "./channels.ts";
import { InboxDeliveries } from "./delivery-store.ts";
import type { InboxExport, InboxKey, InboxPage, InboxPorts, MailContent, SentInbox } from "./inbox-ports.ts";
import { countUnread, InboxSockets } from "./inbox-sockets.ts";
import { InboxStore, type ItemsPage } from "./inbox-store.ts";
import { InboxTables, SCHEMA } from "./inbox-tables.ts";
import { type PushTarget, PushTargets } from "./push-store.ts";
import { InboxRemovals, type RemovedItems } from "./removal-store.ts";
import type { ChangedItem, InboxItem } from "./schema.ts";
import type { IdentityEpochs } from "./store.ts";

const PRUNE_ON_MS = 1_000;
const RETRY_MS = 60_000;
/** Inboxes whose notifications one alarm sends: each costs the database some 15 queries. */
const SENT_BY_ALARM = 50;
const SENT_AT_ONCE = 8;
/** A list with hidden items looks at so many times as many next: access to all rooms of an inbox takes six reads. */
const MORE_LOOKED_AT = 4;

export class InboxObject extends ArchivedDurableObject<object> implements InboxDelivery {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: InboxPorts;
  readonly #alarm: DurableAlarm;
  readonly #tables: InboxTables;
  readonly #sockets: InboxSockets;

  constructor(ctx: DurableObjectState, env: object, ports: InboxPorts) {
    super(ctx, env);
    this.#ports = ports;
    this.#tables = new InboxTables(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of inboxes could not be set", error),
    );
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: SCHEMA,
      settle: () => {
        this.#tables.reopen();
        this.#tables.skipTo(unusedNumber(this.clock()));
      },
      open: () => {
        this.#tables.forgetDue();
        this.#alarm.markFired();
        this.#planAlarm();
      },
    });
    this.#sockets = new InboxSockets({
      state: ctx,
      accountId: () => this.#place.accountId,
      now: () => this.clock(),
      store: (identityId) => this.#open(identityId),
      readAccess: (identityId, roomIds) => this.#readCounted(this.#open(identityId), roomIds),
      verifyToken: ports.verifyToken,
      isTokenCurrent: ports.isTokenCurrent,
      expireAt: (time) => this.#alarm.scheduleBy([time]),
      report: (what, error) => this.#report(what, error),
    });
  }

  get #place(): { readonly accountId: string; readonly shard: string } {
    const [accountId, shard] = (this.ctx.id.name ?? "").split(":");
    if (accountId === undefined || shard === undefined)
      throw new Error("A shard of inboxes must be opened by the ID of its organization and its own");
    return { accountId, shard };
  }

  #key(identityId: string): InboxKey {
    return { accountId: this.#place.accountId, identityId };
  }

  #open(identityId: string): InboxStore {
    return new InboxStore(this.#tables, identityId, () => crypto.randomUUID());
  }

  #channels(inbox: InboxStore): InboxChannels {
    const key = this.#key(inbox.identityId);
    return new InboxChannels({
      store: inbox,
      now: () => this.clock(),
      newId: () => crypto.randomUUID(),
      readRecipient: (roomIds) => this.#ports.readRecipient(key, roomIds),
      senders: () => this.#ports.senders(key, this.#sentInbox(inbox)),
      report: (what, error) => this.#report(what, error),
    });
  }

  #sentInbox(inbox: InboxStore): SentInbox {
    return {
      now: () => this.clock(),
      pushTargets: new PushTargets(inbox),
      notifications: (items) => inbox.present(items.flatMap(({ id }) => inbox.find(id) ?? [])),
    };
  }

  /** For what is due next, of the inboxes and of the shard itself. */
  #planAlarm(expiresAt: number | null = null): void {
    if (this.#tables.exists && this.#tables.pruneAt === null) this.#planPruning();
    this.#alarm.scheduleBy([this.#tables.pruneAt, this.#tables.dueAt, expiresAt]);
  }

  /** A day later, and a part of a day, since a mention has written to all shards at once. */
  #planPruning(): void {
    const spread = Number.parseInt(this.#place.shard, 16) / 256;
    this.#tables.planPruning(this.clock() + (1 + spread) * DAY_MS);
  }

  deliver(
    identityIds: readonly string[],
    activities: readonly InboxActivity[],
    defaults: NotificationDefaults,
  ): void {
    const deliveries = new InboxDeliveries(this.#tables, () => crypto.randomUUID());
    const changed = deliveries.deliver({ identityIds, activities, defaults, now: this.clock() });
    for (const [identityId, items] of changed)
      this.#sockets.push(identityId, { type: "notified", items: [...items.values()] });
    this.#planAlarm();
  }

  markRead(identityIds: readonly string[], position: InboxPosition): void {
    for (const identityId of identityIds) {
      const items = this.#open(identityId).markRead(position, this.clock());
      this.#sockets.push(identityId, { type: "read", items });
    }
    this.#planAlarm();
  }

  removeItems(identityIds: readonly string[], removal: InboxRemoval): void {
    this.#pushRemoved(new Map(identityIds.map((id) => [id, this.#open(id).remove(removal, this.clock())])));
    this.#planAlarm();
  }

  removeFromAll(removal: InboxRemoval): void {
    const removed = new InboxRemovals(this.#tables).remove(removal, this.clock());
    if (removal.kind === undefined) this.recount([...removed.keys()]);
    else this.#pushRemoved(removed);
    this.#planAlarm();
  }

  #pushRemoved(removed: RemovedItems): void {
    for (const identityId of this.#sockets.identityIds)
      this.#pushDeleted(this.#open(identityId), removed.get(identityId) ?? []);
  }

  /** Some of the items are still shown, with other activities. */
  #pushDeleted(inbox: InboxStore, changed: readonly ChangedItem[]): void {
    const shown = new Set(changed.filter(({ id }) => inbox.find(id) !== null));
    const deleted = changed.filter((item) => !shown.has(item));
    this.#sockets.push(inbox.identityId, { type: "deleted", items: deleted });
    this.#sockets.push(inbox.identityId, { type: "updated", items: [...shown] });
  }

  recount(identityIds: readonly string[] | null, roomId?: string): void {
    const present = this.#sockets.identityIds;
    const isConcerned = (id: string) => roomId === undefined || this.#open(id).hasItemsIn(roomId);
    this.#sockets.recount((identityIds ?? [...present]).filter((id) => present.has(id) && isConcerned(id)));
  }

  closeSockets(identityIds: readonly string[] | null): void {
    for (const identityId of identityIds ?? [undefined]) this.#sockets.closeAll(identityId);
  }

  async remove(identityIds: readonly string[]): Promise<void> {
    this.closeSockets(identityIds);
    const mails = identityIds.flatMap((identityId) => this.#tables.mailsOf(identityId));
    if (mails.length > 0) await this.#ports.forgetMails(mails);
    for (const identityId of identityIds) this.#tables.remove(identityId, this.clock());
    this.#planAlarm();
    if (mails.length > 0) await this.#ports.forgetMails(mails); // one may have been stored meanwhile
  }

  async removeAll(): Promise<void> {
    this.closeSockets(null);
    if (!(await this.archived.discard())) await this.#clear();
  }

  async #clear(): Promise<void> {
    this.#alarm.markFired();
    await this.#tables.clear();
  }

  /** Reads the access to rooms until `findRooms`, asked again after each read, names none that was not asked for. */
  async #readAccess(
    { identityId }: InboxStore,
    findRooms: (access: AskedAccess) => readonly string[],
  ): Promise<AskedAccess> {
    let access: AskedAccess = { epochs: null, rooms: new Map(), asked: new Set([""]) };
    const findUnknown = () => [...new Set(findRooms(access))].filter((id) => !access.asked.has(id));
    let unknown = findUnknown();
    do {
      const { epochs, rooms } = await this.#ports.readAccess(this.#key(identityId), unknown);
      access = {
        epochs,
        rooms: new Map([...access.rooms, ...rooms]),
        asked: new Set([...access.asked, ...unknown]),
      };
      unknown = findUnknown();
    } while (unknown.length > 0);
    return access;
  }

  /** The access to the rooms of the unread items, which are counted, and to these. */
  #readCounted(inbox: InboxStore, roomIds: readonly string[] = []): Promise<InboxAccess> {
    return this.#readAccess(inbox, () => [...inbox.unreadByRoom(this.clock()).keys(), ...roomIds]);
  }

  /** The access to the room of an item alone. */
  #readAccessTo(inbox: InboxStore, id: string): Promise<InboxAccess> {
    return this.#readAccess(inbox, () => roomsOf(inbox.find(id)));
  }

  async #findEpochs(identityId: string): Promise<InboxAccess["epochs"]> {
    return (await this.#ports.readAccess(this.#key(identityId), [])).epochs;
  }

  /** A page of the items that the viewer sees, newest first. Null without the identity. */
  async list(viewer: Viewer, page: ItemsPage): Promise<InboxPage | null> {
    const inbox = this.#open(viewer.identityId);
    const hidden = (access: AskedAccess) => {
      const visible = new Set(visibleRooms(access, viewer));
      return [...access.asked].filter((id) => !visible.has(id));
    };
    let looked = page.limit;
    const access = await this.#readAccess(inbox, (known) => {
      const items = inbox.list({ ...page, limit: looked }, hidden(known), this.clock());
      looked *= MORE_LOOKED_AT;
      const isComplete = items.slice(0, page.limit).every(({ roomId }) => known.asked.has(roomId));
      return isComplete ? [] : items.map(({ roomId }) => roomId);
    });
    return access.epochs && this.#page(inbox, page, hidden(access));
  }

  /** A page of all items, also those of rooms that the identity may not enter now, and all that is kept beside them. */
  export(identityId: string, page: ItemsPage): InboxExport {
    const inbox = this.#open(identityId);
    const channels = this.#channels(inbox);
    return {
      ...this.#page(inbox, page, []),
      settings: channels.ownSettings,
      sendings: channels.list(),
      pushTargets: new PushTargets(inbox).all,
    };
  }

  #page(inbox: InboxStore, page: ItemsPage, hiddenRooms: readonly string[]): InboxPage {
    const items = inbox.list(page, hiddenRooms, this.clock());
    const last = items.at(-1);
    return {
      notifications: inbox.present(items),
      next:
        last === undefined || items.length < page.limit ? null : { notifiedAt: last.notifiedAt, id: last.id },
    };
  }

  /** The number of unread items that the viewer sees. Null without the identity. */
  async count(viewer: Viewer): Promise<number | null> {
    const inbox = this.#open(viewer.identityId);
    const access = await this.#readCounted(inbox);
    return access.epochs && countUnread(inbox, access, viewer, this.clock());
  }

  /**
   * Marks an item as read up to a seq; with null, up to its latest activity at the time of the call. Returns how many items
   * are unread after it, null unless the viewer sees the item.
   */
  async markItem(viewer: Viewer, id: string, upTo: number | null): Promise<number | null> {
    const inbox = this.#open(viewer.identityId);
    const item = inbox.find(id);
    const access = await this.#readCounted(inbox, roomsOf(item));
    if (findVisible(inbox, access, viewer, id) === null) return null;
    const items = inbox.markItems([{ id, upTo: upTo ?? item?.seq ?? 0 }], this.clock());
    this.#sockets.push(viewer.identityId, { type: "read", items });
    return countUnread(inbox, access, viewer, this.clock());
  }

  /** Marks the items that the viewer sees, as they are at the time of the call. Returns how many are unread after it. */
  async markAll(viewer: Viewer): Promise<number | null> {
    const inbox = this.#open(viewer.identityId);
    const unread = inbox.unreadItems(this.clock());
    const access = await this.#readCounted(inbox);
    if (access.epochs === null) return null;
    const shown = new Set(visibleRooms(access, viewer));
    const positions = unread.filter(({ roomId }) => shown.has(roomId));
    if (positions.length > 0) {
      const items = inbox.markItems(positions, this.clock());
      this.#sockets.push(viewer.identityId, { type: "read", items });
    }
    return countUnread(inbox, access, viewer, this.clock());
  }

  /** Deletes an item as it is at the time of the call; a later activity shows it again. False unless the viewer sees it. */
  async deleteItem(viewer: Viewer, id: string): Promise<boolean> {
    const inbox = this.#open(viewer.identityId);
    const upTo = inbox.find(id)?.seq ?? 0;
    if (findVisible(inbox, await this.#readAccessTo(inbox, id), viewer, id) === null) return false;
    this.#pushDeleted(inbox, inbox.deleteItems([{ id, upTo }]));
    return true;
  }

  /** Deletes all items as they are at the time of the call, also those of rooms that the identity may not enter now; of a narrowed token those that it sees. */
  async deleteAll(viewer: Viewer): Promise<boolean> {
    const inbox = this.#open(viewer.identityId);
    const shown = inbox.shownItems();
    const isNarrowed = viewer.rooms !== undefined;
    const access = await this.#readAccess(inbox, () => (isNarrowed ? inbox.rooms(this.clock()) : []));
    if (access.epochs === null) return false;
    const rooms = isNarrowed ? new Set(visibleRooms(access, viewer)) : null;
    const found = shown.filter(({ roomId }) => rooms?.has(roomId) ?? true);
    if (found.length > 0) this.#pushDeleted(inbox, inbox.deleteItems(found));
    return true;
  }

  /** An upgrade, forwarded by the Worker. */
  override fetch({ headers }: Request): Response {
    return this.#sockets.accept(headers.get(IDENTITY_HEADER) ?? "", headers.get(ADDRESS_HEADER) ?? "");
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
  async readSettings(identityId: string): Promise<NotificationSettings | null> {
    const epochs = await this.#findEpochs(identityId);
    return epochs && this.#channels(this.#open(identityId)).settings;
  }

  /** Null without the identity; the reason for a refusal when there would be too many entries. */
  async changeSettings(
    identityId: string,
    update: NotificationSettingsUpdate,
  ): Promise<NotificationSettings | string | null> {
    if ((await this.#findEpochs(identityId)) === null) return null;
    return this.#channels(this.#open(identityId)).change(update);
  }

  /** The browsers that have subscribed with a key, the latest first; none without a key. Null without the identity. */
  async listPushTargets(identityId: string, publicKey: string | null): Promise<readonly PushTarget[] | null> {
    const epochs = await this.#findEpochs(identityId);
    if (epochs === null || publicKey === null) return epochs && [];
    return new PushTargets(this.#open(identityId)).list({ publicKey, epochs }, this.clock());
  }

  /**
   * Pushes notifications to a browser from now on, while the epochs of the caller's token hold; without them, as long as
   * those of now. False if they have ended, or without the identity.
   */
  async addPushTarget(
    identityId: string,
    target: Omit<PushTarget, "createdAt">,
    publicKey: string,
    ofToken?: IdentityEpochs,
  ): Promise<boolean> {
    const current = await this.#findEpochs(identityId);
    const epochs = ofToken ?? current;
    if (current === null || epochs?.identity !== current.identity || epochs.account !== current.account)
      return false;
    const targets = new PushTargets(this.#open(identityId));
    return targets.add({ ...target, createdAt: this.clock() }, { publicKey, epochs });
  }

  /** False without the identity. */
  async removePushTarget(identityId: string, endpoint: string): Promise<boolean> {
    const epochs = await this.#findEpochs(identityId);
    new PushTargets(this.#open(identityId)).remove(endpoint);
    return epochs !== null;
  }

  /** The sendings, also of items that were not sent, the latest first. Null without the identity. */
  async listSendings(identityId: string, limit: number): Promise<readonly Sending[] | null> {
    const epochs = await this.#findEpochs(identityId);
    return epochs && this.#channels(this.#open(identityId)).list(limit);
  }

  /**
   * The content of a queued mail, as it is now; null if there is no reason for the mail any more. Callers of the version
   * before do not follow a changed address: for them the mail ends with it.
   */
  async readMail(
    identityId: string,
    sendingId: string,
    address: string,
    followsAddress = false,
  ): Promise<MailContent | null> {
    const inbox = this.#open(identityId);
    const found = await this.#channels(inbox).readMail(sendingId, followsAddress ? null : address);
    if (found === null) return null;
    const { email, defaults } = found.recipient;
    const notifications = this.#sentInbox(inbox).notifications(found.items);
    return { notifications, link: defaults.link, address: email ?? address };
  }

  /** The mail was sent, or has another end. */
  finishMail(identityId: string, sendingId: string, outcome: Outcome): void {
    this.#channels(this.#open(identityId)).finish(sendingId, outcome);
  }

  /** Closes sockets whose tokens have expired, sends what is due, and once a day deletes what is too old. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    try {
      const expiresAt = this.#sockets.closeExpired();
      this.recount([...new InboxRemovals(this.#tables).continue(this.clock()).keys()]);
      const due = this.#tables.dueIdentities(this.clock(), SENT_BY_ALARM);
      await forEachConcurrently(SENT_AT_ONCE, due, (identityId) =>
        this.#channels(this.#open(identityId)).send(),
      );
      await this.#pruneIfDue();
      this.#planAlarm(expiresAt);
    } catch (error) {
      this.#report("The alarm of inboxes failed", error);
      this.#alarm.scheduleBy([this.clock() + RETRY_MS]);
    }
  }

  /** With the last of its content, the whole storage goes. */
  async #pruneIfDue(): Promise<void> {
    const { pruneAt } = this.#tables;
    if (pruneAt === null || pruneAt > this.clock()) return;
    if (this.#tables.prune(this.clock())) this.#tables.planPruning(this.clock() + PRUNE_ON_MS);
    else if (this.#tables.isEmpty) await this.#clear();
    else this.#planPruning();
  }

  #report(what: string, error: unknown): void {
    reportFailure("delivery", what, { object: String(this.ctx.id) }, error);
  }
}

/** Access with the rooms that were asked for, of which `rooms` has those that may be entered. */
interface AskedAccess extends InboxAccess {
  readonly asked: ReadonlySet<string>;
}

const roomsOf = (item: InboxItem | null): readonly string[] => (item === null ? [] : [item.roomId]);

/** The item, if the viewer sees it. */
function findVisible(inbox: InboxStore, access: InboxAccess, viewer: Viewer, id: string): InboxItem | null {
  const item = access.epochs && inbox.find(id);
  return item !== null && visibleRooms(access, viewer).includes(item.roomId) ? item : null;
}
