/** The Durable Object of one shard of inboxes: their notifications, read positions and sockets. */

import type { InboxActivity, InboxPosition, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import type {
  NotificationDefaults,
  NotificationSettings,
  NotificationSettingsUpdate,
} from "@atrium/contract/resources/notification-settings.ts";
import type { Sending } from "@atrium/contract/resources/sent-notification.ts";
import { DAY_MS, unusedNumber } from "@atrium/contract/time.ts";
import { ADDRESS_HEADER, IDENTITY_HEADER, type InboxDelivery } from "../../../delivery/inboxes.ts";
import { forEachConcurrently } from "../../../platform/flow/concurrency.ts";
import { FailureStreak } from "../../../platform/flow/failure-streak.ts";
import { DurableAlarm } from "../../../platform/objects/durable-alarm.ts";
import { ArchivedDurableObject, StorageArchive } from "../../../platform/objects/storage-archive.ts";
import { reportFailure } from "../../../platform/telemetry/telemetry.ts";
import type { IdentityClaims } from "../../../platform/token-claims.ts";
import { CLOSE } from "../../../room/protocol/protocol.ts";
import type { InboxAccess, InboxCaller, Recipient } from "../recipients/access.ts";
import type { IdentityEpochs } from "../recipients/store.ts";
import { InboxChanges } from "./change-store.ts";
import { InboxDeliveries } from "./delivery-store.ts";
import { InboxJoins } from "./inbox-joins.ts";
import { InboxPushes } from "./inbox-pushes.ts";
import { InboxSockets } from "./inbox-sockets.ts";
import { InboxStore, type ItemsPage } from "./inbox-store.ts";
import { InboxTables, SCHEMA } from "./inbox-tables.ts";
import { changesOf, type InboxPage, InboxView, pageOf, readCounted } from "./inbox-view.ts";
import type { ChangedItem } from "./present.ts";
import { type PushTarget, PushTargets } from "./push-store.ts";
import { InboxRemovals, type RemovedItems } from "./removal-store.ts";
import type { InboxKey, Senders, SentInbox } from "./sender.ts";
import { type FailureStreaks, InboxSendings } from "./sendings.ts";

/** The needs of a shard, which features fill. */
export interface InboxPorts {
  /** Reads whether the identity exists, and its access to rooms, as they are now. */
  readAccess(key: InboxKey, roomIds: readonly string[]): Promise<InboxAccess>;
  /** The same, with the address and with the organization's defaults. */
  readRecipient(key: InboxKey, roomIds: readonly string[]): Promise<Recipient>;
  senders(key: InboxKey, inbox: SentInbox): Senders;
  /** The claims of an identity's token that is valid at `now` (epoch ms). */
  verifyToken(token: string, now: number): Promise<IdentityClaims | null>;
  /** Whether a token of any organization, valid by itself, has not ended. */
  isTokenCurrent(claims: IdentityClaims): Promise<boolean>;
}

export interface InboxExport extends InboxPage {
  /** Null as long as the identity wants what the organization does by default. */
  readonly settings: NotificationSettings | null;
  readonly sendings: readonly Sending[];
  readonly pushTargets: readonly PushTarget[];
}

const PRUNE_ON_MS = 1_000;
const RETRY_MS = 60_000;
/** Inboxes whose notifications one alarm sends: each costs up to 25 queries, and a call of each of its rooms. */
const SENT_BY_ALARM = 20;
const SENT_AT_ONCE = 8;

export class InboxObjectBase extends ArchivedDurableObject<object> implements InboxDelivery {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: InboxPorts;
  readonly #alarm: DurableAlarm;
  readonly #tables: InboxTables;
  readonly #sockets: InboxSockets;
  readonly #pushes: InboxPushes;
  readonly #joins: InboxJoins;
  readonly #streaks: FailureStreaks;

  constructor(ctx: DurableObjectState, env: object, ports: InboxPorts) {
    super(ctx, env);
    this.#ports = ports;
    this.#tables = new InboxTables(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of inboxes could not be set", error),
    );
    const streak = (what: string) => new FailureStreak((error) => this.#report(what, error));
    this.#streaks = {
      decisions: streak("The notifications of an inbox could not be sent yet"),
      email: streak("Notifications could not be sent yet"),
      webPush: streak("Notifications could not be sent yet"),
    };
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
    const [now, report] = [() => this.clock(), this.#report.bind(this)];
    const readCountedOf = (identityId: string, roomIds: readonly string[] = []) =>
      readCounted(
        this.#open(identityId),
        (ids) => ports.readAccess(this.#key(identityId), ids),
        now,
        roomIds,
      );
    const sockets = new InboxSockets({ state: ctx, now });
    const pushes = new InboxPushes({
      sockets,
      now,
      report,
      store: (identityId) => this.#open(identityId),
      readAccess: readCountedOf,
      waitUntil: (work) => ctx.waitUntil(work),
    });
    this.#joins = new InboxJoins({
      sockets,
      pushes,
      now,
      report,
      accountId: () => this.#place.accountId,
      readAccess: readCountedOf,
      verifyToken: ports.verifyToken,
      isTokenCurrent: ports.isTokenCurrent,
      expireAt: (time) => this.#alarm.scheduleBy([time]),
    });
    this.#sockets = sockets;
    this.#pushes = pushes;
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
    return new InboxStore(this.#tables, identityId);
  }

  #changes(inbox: InboxStore): InboxChanges {
    return new InboxChanges(inbox, () => crypto.randomUUID());
  }

  #sendings(inbox: InboxStore): InboxSendings {
    const key = this.#key(inbox.identityId);
    return new InboxSendings({
      store: inbox,
      now: () => this.clock(),
      newId: () => crypto.randomUUID(),
      readRecipient: (roomIds) => this.#ports.readRecipient(key, roomIds),
      senders: () => this.#ports.senders(key, this.#sentInbox(inbox)),
      streaks: this.#streaks,
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

  /** Plans the alarm for the earliest due inbox, or for pruning. */
  #planAlarm(expiresAt: number | null = null): void {
    if (this.#tables.exists && this.#tables.pruneAt === null) this.#planPruning();
    this.#alarm.scheduleBy([this.#tables.pruneAt, this.#tables.dueAt, expiresAt]);
  }

  /** Spreads pruning over a day: a mention of a group writes to all shards at the same time. */
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
      this.#pushes.push(identityId, { type: "notified", items: [...items.values()] });
    this.#planAlarm();
  }

  mention(identityIds: readonly string[]): void {
    for (const socket of identityIds.flatMap((id) => this.#sockets.in("joined", id)))
      this.#sockets.send(socket, { type: "event", event: "mentioned", data: {} });
  }

  markRead(identityIds: readonly string[], position: InboxPosition): void {
    for (const identityId of identityIds) {
      const items = this.#changes(this.#open(identityId)).markRead(position, this.clock());
      this.#pushes.push(identityId, { type: "read", items });
    }
    this.#planAlarm();
  }

  removeItems(identityIds: readonly string[], removal: InboxRemoval): void {
    const remove = (id: string) => this.#changes(this.#open(id)).remove(removal, this.clock());
    this.#pushRemoved(new Map(identityIds.map((id) => [id, remove(id)])));
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

  #pushDeleted(inbox: InboxStore, changed: readonly ChangedItem[]): void {
    for (const change of changesOf(inbox, changed)) this.#pushes.push(inbox.identityId, change);
  }

  recount(identityIds: readonly string[] | null, roomId?: string): void {
    const present = this.#sockets.identityIds;
    const isConcerned = (id: string) => roomId === undefined || this.#open(id).hasItemsIn(roomId);
    this.#pushes.recount((identityIds ?? [...present]).filter((id) => present.has(id) && isConcerned(id)));
  }

  closeSockets(identityIds: readonly string[] | null): void {
    for (const identityId of identityIds ?? [undefined]) this.#sockets.closeAll(identityId);
  }

  remove(identityIds: readonly string[]): void {
    this.closeSockets(identityIds);
    for (const identityId of identityIds) this.#tables.remove(identityId, this.clock());
    this.#planAlarm();
  }

  async removeAll(): Promise<void> {
    this.closeSockets(null);
    if (!(await this.archived.discard())) await this.#clear();
  }

  async #clear(): Promise<void> {
    this.#alarm.markFired();
    await this.#tables.clear();
  }

  /** Null without the identity. */
  async #ofIdentity<T>(
    identityId: string,
    work: (inbox: InboxStore, epochs: IdentityEpochs) => T,
  ): Promise<T | null> {
    const { epochs } = await this.#ports.readAccess(this.#key(identityId), []);
    return epochs && work(this.#open(identityId), epochs);
  }

  #view(caller: InboxCaller): InboxView {
    const { identityId } = caller;
    const inbox = this.#open(identityId);
    return new InboxView(caller, {
      inbox,
      changes: this.#changes(inbox),
      now: () => this.clock(),
      readAccess: (roomIds) => this.#ports.readAccess(this.#key(identityId), roomIds),
      push: (change) => this.#pushes.push(identityId, change),
    });
  }

  /** {@link InboxView.list}. */
  list(caller: InboxCaller, page: ItemsPage): Promise<InboxPage | null> {
    return this.#view(caller).list(page);
  }

  /** {@link InboxView.count}. */
  count(caller: InboxCaller): Promise<number | null> {
    return this.#view(caller).count();
  }

  /** {@link InboxView.markItem}. */
  markItem(caller: InboxCaller, id: string, upTo: number | null): Promise<number | null> {
    return this.#view(caller).markItem(id, upTo);
  }

  /** {@link InboxView.markAll}. */
  markAll(caller: InboxCaller): Promise<number | null> {
    return this.#view(caller).markAll();
  }

  /** {@link InboxView.deleteItem}. */
  deleteItem(caller: InboxCaller, id: string): Promise<boolean> {
    return this.#view(caller).deleteItem(id);
  }

  /** {@link InboxView.deleteAll}. */
  deleteAll(caller: InboxCaller): Promise<boolean> {
    return this.#view(caller).deleteAll();
  }

  /** A page of all items, also those of rooms that the identity may not enter now, and all that is kept beside them. */
  export(identityId: string, page: ItemsPage): InboxExport {
    const inbox = this.#open(identityId);
    const sendings = this.#sendings(inbox);
    return {
      ...pageOf(inbox, page, [], this.clock()),
      settings: sendings.ownSettings,
      sendings: sendings.list(),
      pushTargets: new PushTargets(inbox).all,
    };
  }

  /** An upgrade, forwarded by the Worker. */
  override fetch({ headers }: Request): Response {
    return this.#joins.accept(headers.get(IDENTITY_HEADER) ?? "", headers.get(ADDRESS_HEADER) ?? "");
  }

  override async webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    await this.#joins.receive(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#sockets.answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#sockets.answerClose(socket, CLOSE.failed, "connection failed");
  }

  /** The settings of the identity for channels. Null without the identity. */
  readSettings(identityId: string): Promise<NotificationSettings | null> {
    return this.#ofIdentity(identityId, (inbox) => this.#sendings(inbox).settings);
  }

  /** Null without the identity; the reason for a refusal when there would be too many entries. */
  changeSettings(
    identityId: string,
    update: NotificationSettingsUpdate,
  ): Promise<NotificationSettings | string | null> {
    return this.#ofIdentity(identityId, (inbox) => this.#sendings(inbox).change(update));
  }

  /** The sendings, also of items that were not sent, the latest first. Null without the identity. */
  listSendings(identityId: string, limit: number): Promise<readonly Sending[] | null> {
    return this.#ofIdentity(identityId, (inbox) => this.#sendings(inbox).list(limit));
  }

  /** The browsers that have subscribed with a key, the latest first; none without a key. Null without the identity. */
  listPushTargets(identityId: string, publicKey: string | null): Promise<readonly PushTarget[] | null> {
    return this.#ofIdentity(identityId, (inbox, epochs) =>
      publicKey === null ? [] : new PushTargets(inbox).list({ publicKey, epochs }, this.clock()),
    );
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
    const added = await this.#ofIdentity(identityId, (inbox, current) => {
      const epochs = ofToken ?? current;
      if (epochs.identity !== current.identity || epochs.account !== current.account) return false;
      return new PushTargets(inbox).add({ ...target, createdAt: this.clock() }, { publicKey, epochs });
    });
    return added === true;
  }

  /** False without the identity. */
  async removePushTarget(identityId: string, endpoint: string): Promise<boolean> {
    const remove = (inbox: InboxStore) => new PushTargets(inbox).remove(endpoint);
    return (await this.#ofIdentity(identityId, remove)) !== null;
  }

  /** Closes sockets whose tokens have expired, sends what is due, and once a day deletes what is too old. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    try {
      const expiresAt = this.#sockets.closeExpired();
      this.recount([...new InboxRemovals(this.#tables).continue(this.clock()).keys()]);
      const due = this.#tables.dueIdentities(this.clock(), SENT_BY_ALARM);
      await forEachConcurrently(SENT_AT_ONCE, due, (identityId) =>
        this.#sendings(this.#open(identityId)).send(),
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
