/** Durable Object of one shard of an organization's event log: appends, reads, and prunes by age and size. */

import { withoutContent } from "@atrium/contract/resources/erased-comment.ts";
import type { AgentMentionedEvent, Event, EventOfIdentity } from "@atrium/contract/resources/events.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import { ERASED_FIELDS, type User } from "@atrium/contract/resources/user.ts";
import { HOUR_MS, unusedNumber } from "@atrium/contract/time.ts";
import type { Env } from "../../env.ts";
import { CachedRow } from "../../platform/cache.ts";
import { eventLogLimits } from "../../platform/config.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { logError } from "../../platform/log.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import { type OrganizationSubscription, selectAllSubscriptions } from "../outbox/subscriber-store.ts";
import type { OutgoingEvent, RoomSubscription } from "../outbox/subscription.ts";
import {
  EVENT_LOG_SCHEMA,
  EventLogStore,
  type HourlyCounts,
  type RunCounts,
  type Span,
} from "./event-log-store.ts";
import type { LogQuery, LogSlice } from "./log-page.ts";

/** Replaces a file's name and key, which often identify its owner. */
const ERASED_FILE = "deleted";

/**
 * The event, as JSON, without the user's name, picture, custom ID, comments, suggestions and names of files, or the identity's and
 * its address. The ID stays.
 */
function redactEvent(body: string, userId: string): string {
  const event = parse(body);
  const redacted: Record<string, unknown> = { ...event };
  if ("user" in event) redacted.user = redactUser(event.user, userId);
  if ("identity" in event) redacted.identity = redactIdentity(event.identity, userId);
  if ("users" in event) redacted.users = event.users.map((user) => redactUser(user, userId));
  if ("comment" in event && event.comment.user_id === userId)
    redacted.comment = withoutContent(event.comment);
  if (event.event === "agent.mentioned") redacted.thread = redactThread(event.thread, userId);
  if ("suggestion" in event) redacted.suggestion = redactSuggestion(event.suggestion, userId);
  if ("file" in event && event.file.uploadedBy === userId) {
    redacted.file = {
      ...event.file,
      key: ERASED_FILE,
      filename: ERASED_FILE,
      url: new URL("/", event.file.url).href,
    };
    redacted.data = { ...event.data, key: ERASED_FILE };
  }
  return JSON.stringify(redacted);
}

/** Without the texts of a user, and without the metadata of a thread that the user has started. */
function redactThread(
  { metadata, comments, ...thread }: AgentMentionedEvent["thread"],
  userId: string,
): AgentMentionedEvent["thread"] {
  const redacted = comments.map((each) => (each.user_id === userId ? { ...each, text: "" } : each));
  return { ...thread, ...(thread.user_id !== userId && { metadata }), comments: redacted };
}

/** Without the title by its author, or the comment by its reviewer. */
const redactSuggestion = (suggestion: Suggestion, userId: string): Suggestion => ({
  ...suggestion,
  ...(suggestion.author.id === userId && { title: null }),
  ...(suggestion.reviewed_by?.id === userId && { comment: null }),
});

function redactUser(user: User, userId: string): User {
  if (user.id !== userId) return user;
  const { profile_picture: _, custom_id: __, ...rest } = user;
  return { ...rest, name: ERASED_FIELDS.name };
}

function redactIdentity(identity: Identity, identityId: string): Identity {
  if (identity.id !== identityId) return identity;
  const { profile_picture: _, custom_id: __, email: ___, ...rest } = identity;
  return { ...rest, name: ERASED_FIELDS.name };
}

const parse = (body: string): Event | EventOfIdentity => JSON.parse(body) as Event | EventOfIdentity;

/** The longest delay of a deletion: each alarm then finds more than one expired event. */
const PRUNE_EVERY_MS = HOUR_MS;

/** A change of a subscriber whose announcement was lost is known after this time at the latest. */
const SUBSCRIPTIONS_KEPT_MS = 60_000;

export class EventLogObject extends ArchivedDurableObject<Env> {
  clock: () => number = () => Date.now();
  limits: ReturnType<typeof eventLogLimits>;

  readonly archived: StorageArchive;
  #opened: EventLogStore;
  readonly #alarm: DurableAlarm;
  #subscriptions: CachedRow<readonly OrganizationSubscription[]> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.limits = eventLogLimits(env);
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: EVENT_LOG_SCHEMA,
      settle: () => new EventLogStore(ctx.storage).writeRestoredSeq(unusedNumber(this.clock())),
      open: () => {
        this.#opened = new EventLogStore(ctx.storage);
        this.#scheduleAlarm();
      },
    });
    this.#opened = new EventLogStore(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      logError("The alarm of an event log could not be set", { object: String(ctx.id) }, error),
    );
  }

  /** Throws while the shard is being restored. */
  get #store(): EventLogStore {
    this.archived.requireOpen();
    return this.#opened;
  }

  /** Appends events of one room, each event ID once. They are on disk when this resolves. */
  append(events: readonly OutgoingEvent[]): void {
    this.#store.append(events, this.clock());
    this.#scheduleAlarm();
  }

  /** Appends events, and returns the subscriptions to the room. The events are in the log even if this rejects. */
  publish(accountId: string, roomId: string, events: readonly OutgoingEvent[]): Promise<RoomSubscription[]> {
    this.append(events);
    return this.subscriptions(accountId, roomId);
  }

  countRuns(runs: RunCounts): void {
    this.#store.countRuns(runs, this.clock());
  }

  hours(from: number, width: number, before?: Span): HourlyCounts[] {
    return this.#store.readHours(from, width, before);
  }

  async subscriptions(accountId: string, roomId: string): Promise<RoomSubscription[]> {
    const all = (await this.#subscriptionsOf(accountId).get()) ?? [];
    return all
      .filter((each) => each.roomId === null || each.roomId === roomId)
      .map(({ roomId: _, ...subscription }) => subscription);
  }

  subscriptionsChanged(): void {
    this.#subscriptions?.invalidate();
  }

  /** The caller passes the account: the object's name does not say whose shard this is. */
  #subscriptionsOf(accountId: string): CachedRow<readonly OrganizationSubscription[]> {
    if (this.#subscriptions !== null) return this.#subscriptions;
    const tenant = openTenant(this.env, accountId);
    const read = async () => (await tenant.db.run([selectAllSubscriptions(tenant)]))[0];
    this.#subscriptions = new CachedRow(read, () => this.clock(), SUBSCRIPTIONS_KEPT_MS);
    return this.#subscriptions;
  }

  /** Redacts some of the events after one, and returns the last of these; null at the end. */
  eraseUser(roomId: string, userId: string, after: number): number | null {
    return this.#store.replaceBodies(roomId, userId, after, (body) => redactEvent(body, userId));
  }

  async remove(): Promise<void> {
    this.#alarm.markFired();
    if (await this.archived.discard()) return;
    await this.ctx.storage.deleteAll();
    this.#opened = new EventLogStore(this.ctx.storage);
  }

  read(query: LogQuery): LogSlice {
    return this.#store.readLog(query);
  }

  override alarm(): void {
    this.#alarm.markFired();
    if (this.archived.isRestoring) return;
    const { keptMs, maxBytes } = this.limits;
    this.#store.prune(this.clock() - keptMs, maxBytes);
    this.#scheduleAlarm();
  }

  #scheduleAlarm(): void {
    const { keptMs, maxBytes } = this.limits;
    const [now, { oldestAt, bytes }] = [this.clock(), this.#store];
    if (oldestAt === null) return;
    const expiresAt = oldestAt + keptMs;
    const isDue = bytes > maxBytes || expiresAt < now;
    this.#alarm.scheduleBy([isDue ? now : expiresAt + PRUNE_EVERY_MS]);
  }
}
