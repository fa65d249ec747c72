/** Delivers events to a webhook: reads its row, makes the attempt, and acts on the result. */

import type { DeliveryAttempt } from "@atrium/contract/rest/webhook-deliveries.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { disableSubscriber } from "../../delivery/outbox/subscriber-store.ts";
import { mentionedIn, type SubscriberKey } from "../../delivery/outbox/subscription.ts";
import { openSecrets, secretsInForce, signingSealer } from "../../delivery/signing-secret-store.ts";
import type {
  AttemptResult,
  BacklogReport,
  BatchLimits,
  DeliveryHandler,
  DeliveryOutcome,
  Destination,
  HandledEvent,
  HandlerState,
  Pace,
  WebhookMessage,
} from "../../delivery/subscriber/handler.ts";
import {
  announceChange,
  type DeliveryObjects,
  fanOutAbout,
  openDelivery,
} from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { CachedRow } from "../../platform/cache.ts";
import { jwtSecrets, ownHosts } from "../../platform/config.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { lazily } from "../../platform/lazily.ts";
import { readSetting } from "../../platform/settings.ts";
import { DATA_SETS } from "../../platform/telemetry/data-sets.ts";
import { metrics, reportFailure, writeMetrics } from "../../platform/telemetry/telemetry.ts";
import { readTrace, type Trace } from "../../platform/trace.ts";
import { selectOpenRooms } from "../access/statements.ts";
import { type Notice, notifyOwners } from "../mail/notices.ts";
import { attempt, batchOf, messageOf } from "./attempt.ts";
import { backlogNotice, disabledNotice } from "./notices.ts";
import {
  CLOSED,
  capacityAfter,
  judgeAttempt,
  paceOf,
  parseBatch,
  parseHealth,
  planRetry,
  type ReceiverHealth,
  SenderSlots,
  UNTRIED,
} from "./receiver-health.ts";
import { markBacklogged, selectStoredWebhook } from "./store.ts";
import type { DisabledReason, StoredWebhook, WebhookRow } from "./table.ts";

const DATABASE_PAUSE_MS = 5_000;
const DISABLED = "The webhook was disabled";
const NO_ACCESS = "The agent may not read the room any more";
/** The pause of deliveries when the secret cannot be opened, until it is rotated. */
const SECRET_PAUSE_MS = 60_000;
/** Reasons that end when the receiver works again; the backlog is kept until then. */
const SUSPENSIONS: readonly (DisabledReason | null)[] = ["failing", "unproven", "backlogged"];

/** The owners know of webhooks that were disabled longer ago. */
const NOTICE_MS = 60 * 60 * 1000;

const presenting = lazily(() => import("./present.ts"));
const samples = lazily(() => import("./sample-event.ts"));

export class WebhookHandler implements DeliveryHandler {
  /** An attempt that may have arrived is repeated: receivers recognize repetitions by the event's id. */
  readonly interruption = null;
  readonly #env: Env;
  readonly #tenant: Tenant;
  readonly #objects: DeliveryObjects;
  readonly #devTargets: readonly string[];
  readonly #ownHosts: readonly string[];
  readonly #key: SubscriberKey;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<StoredWebhook>;
  readonly #connections = new SenderSlots();
  /** The version of the row that was disabled, once the owners are notified of it. */
  #notifiedOf: number | null = null;
  #capacity = UNTRIED;
  #known: ReceiverHealth | null = null;

  constructor(env: Env, key: SubscriberKey, now: () => number, state: HandlerState) {
    this.#env = env;
    this.#tenant = openTenant(env, key.accountId);
    this.#objects = openDelivery(env);
    this.#devTargets = readSetting(env, "WEBHOOK_DEV_TARGETS");
    this.#ownHosts = ownHosts(env);
    this.#key = key;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectStoredWebhook(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
  }

  /** A receiver that has not shown that it wants our events gets them one at a time. */
  get pace(): Pace {
    const { circuit, proof } = this.#readHealth();
    return paceOf(circuit, proof.isProven, this.#capacity);
  }

  /** A change of the row gives its receiver another chance at once. */
  requireVersion(version: number): void {
    this.#row.requireVersion(version);
    if (Number.isFinite(version) && version > this.#readHealth().version) this.giveChance();
  }

  giveChance(): void {
    this.#writeHealth({ ...this.#readHealth(), circuit: CLOSED });
  }

  release(): void {}

  /** Batch limits in the row as last read: the first request after a change still has the old ones. */
  get batch(): BatchLimits | null {
    return this.#readHealth().batch;
  }

  async deliver(
    event: HandledEvent,
    attempts: number,
    others: readonly HandledEvent[] = [],
  ): Promise<DeliveryOutcome> {
    try {
      let row = await this.#row.get();
      if (row !== null && (await this.#disableIfJudged(row))) row = await this.#row.get();
      if (row === null) return { type: "orphaned" };
      if (row.enabled === 0) {
        await this.#notifyOfDisabled(row);
        return SUSPENSIONS.includes(row.disabledReason)
          ? { type: "suspended", why: DISABLED }
          : { type: "disabled", error: DISABLED };
      }
      return await this.#send(row, [event, ...others], attempts);
    } catch (error) {
      this.#row.invalidate();
      const why = "The database failed during a delivery";
      this.#log(why, error, readTrace(event.trace));
      return { type: "postponed", until: this.#now() + DATABASE_PAUSE_MS, why };
    }
  }

  async suspend(): Promise<void> {
    const row = await this.#row.get();
    if (row !== null && row.enabled === 1) await this.#disable(row, "backlogged");
  }

  /** Marks the webhook, and notifies the organization's owners by mail, and its other webhooks that listen to that. */
  async reportBacklog(report: BacklogReport | null): Promise<void> {
    const since = report === null ? null : (report.oldestAt ?? report.now);
    const { accountId, id } = this.#key;
    const [[row]] = await this.#tenant.db.run([markBacklogged(this.#tenant, id, since)]);
    if (report === null || row === undefined) return;
    if (row.disabledReason === null) await this.#notifyOwners(backlogNotice(row, report));
    else await this.#notifyOfDisabled(row);
    const [{ presentWebhook }, { presentBacklogged }] = [await presenting(), await samples()];
    await fanOutAbout(id, accountId, this.#objects, {
      id: report.eventId,
      event: "webhook.backlogged",
      occurredAt: report.now,
      body: presentBacklogged(presentWebhook(row), report),
    });
  }

  async #send(
    row: StoredWebhook,
    events: readonly [HandledEvent, ...HandledEvent[]],
    attempts: number,
  ): Promise<DeliveryOutcome> {
    const batch = parseBatch(row.batch);
    this.#writeHealth({ ...this.#readHealth(), batch });
    if (batch === null && events.length > 1)
      return { type: "postponed", until: this.#now(), why: "The webhook takes no batches any more" };
    if (!(await this.#mayReceive(row, events[0]))) return { type: "failed", attempt: null, error: NO_ACCESS };
    const message = batch === null ? messageOf(events[0]) : await batchOf(events);
    const startedAt = this.#now();
    const { secret, previousSecret, previousSecretUntil } = row;
    const inForce = secretsInForce(secret, previousSecret, previousSecretUntil, startedAt);
    const secrets = await openSecrets(signingSealer(jwtSecrets(this.#env)), inForce, this.#key, this.#log);
    if (secrets.length === 0)
      return { type: "postponed", until: startedAt + SECRET_PAUSE_MS, why: "The secret must be rotated" };
    const destination = {
      url: row.url,
      secrets,
      devTargets: this.#devTargets,
      ownHosts: [...this.#ownHosts, row.ownHost],
    };
    const result = await this.#attempt(destination, message);
    this.#count(result, events, attempts, startedAt);
    this.#capacity = capacityAfter(this.#capacity, result);
    const isRefused = await this.#judge(row, result, startedAt);
    const logged = {
      ...toLogged(result, startedAt),
      ...(batch === null ? {} : { events: events.length }),
    };
    if (result.outcome === "delivered") return { type: "delivered", attempt: logged };
    const summary = { attempts: attempts + 1, result, now: this.#now(), random: Math.random };
    const retry = isRefused ? null : planRetry(summary);
    const failed = { attempt: logged, error: result.error };
    return retry === null ? { type: "failed", ...failed } : { type: "retry", at: retry.at, ...failed };
  }

  /** Whether an event mentions the agent of a webhook, which may read the room now: its access may have ended since, or the room. */
  async #mayReceive({ id, identityId }: StoredWebhook, event: HandledEvent): Promise<boolean> {
    const { roomId } = event;
    if (identityId === null || roomId === id) return true; // a sample is about the webhook itself
    if (mentionedIn(event) !== identityId) return false;
    const [[room]] = await this.#tenant.db.run([selectOpenRooms(this.#tenant, identityId, [roomId])]);
    return room !== undefined;
  }

  /** Makes the request, or has a sender make it when this object has enough in flight. */
  async #attempt(destination: Destination, message: WebhookMessage): Promise<AttemptResult> {
    const here = () => attempt(destination, message, { fetch: (...args) => fetch(...args), now: this.#now });
    const sender = this.#connections.take();
    try {
      if (sender === 0) return await here();
      try {
        return await this.#objects.subscribers(this.#key, sender).send(destination, message);
      } catch (error) {
        const what = "A sender of a webhook failed, so its own object sends the request";
        this.#log(what, error, message.trace);
        return await here();
      }
    } finally {
      this.#connections.giveBack(sender);
    }
  }

  /** Counts an attempt. A redelivery on request has not waited. */
  #count(result: AttemptResult, events: readonly HandledEvent[], attempts: number, startedAt: number): void {
    const { outcome, errorClass, durationMs } = result;
    const series = metrics.series(DATA_SETS.deliveries, { outcome, error_class: errorClass ?? "none" });
    series.add("events", events.length);
    series.time("duration", durationMs);
    for (const { occurredAt, replayId } of attempts === 0 ? events : [])
      if (replayId === null) series.time("wait", Math.max(0, startedAt - occurredAt));
    writeMetrics(this.#env);
  }

  readonly #log = (message: string, error: unknown, trace: Trace | null = null): void => {
    const { accountId: account } = this.#tenant;
    reportFailure("delivery", message, { account, webhook: this.#key.id, request: trace?.requestId }, error);
  };

  /**
   * Records the result of an attempt for the receiver's health, and disables the webhook if it has to be: true
   * if for good.
   */
  async #judge(row: StoredWebhook, { outcome }: AttemptResult, startedAt: number): Promise<boolean> {
    const ended = { outcome, startedAt, now: this.#now() };
    const health = judgeAttempt(this.#readHealth(), row, ended);
    this.#writeHealth(health);
    // The attempt was made, and is recorded. The next one first disables the webhook.
    await this.#disableIfJudged(row).catch((error: unknown) =>
      this.#log("A webhook could not be disabled yet", error),
    );
    const { disabledReason } = health;
    return disabledReason !== null && !SUSPENSIONS.includes(disabledReason);
  }

  /** Disables the webhook if an attempt at this version of its row has said so. Returns true if it did. */
  async #disableIfJudged(row: StoredWebhook): Promise<boolean> {
    const { version, disabledReason } = this.#readHealth();
    if (disabledReason === null || version !== row.updatedAt || row.enabled === 0) return false;
    await this.#disable(row, disabledReason);
    return true;
  }

  /** Disables the webhook, unless its row has changed since it was read. */
  async #disable(row: StoredWebhook, reason: DisabledReason): Promise<void> {
    this.#row.invalidate();
    const now = this.#now();
    const [changed] = await this.#tenant.db.run([disableSubscriber(this.#key, row.updatedAt, reason, now)]);
    const { accountId } = this.#key;
    await announceChange({ accountId, eventLogs: this.#objects.eventLogs, log: this.#log });
    const updatedAt = Math.max(now, row.updatedAt + 1);
    if (changed.length > 0) await this.#notifyOfDisabled({ ...row, disabledReason: reason, updatedAt });
  }

  /** Notifies the owners that the service has disabled the webhook, again where a crash or failure came between. */
  async #notifyOfDisabled(row: WebhookRow): Promise<void> {
    const { disabledReason, updatedAt } = row;
    if (disabledReason === null || updatedAt === this.#notifiedOf) return;
    const now = this.#now();
    if (now - updatedAt < NOTICE_MS) await this.#notifyOwners(disabledNotice(row, disabledReason, now));
    this.#notifiedOf = updatedAt;
  }

  #notifyOwners(notice: Notice): Promise<void> {
    return notifyOwners(this.#env, this.#key.accountId, notice, this.#log);
  }

  #readHealth(): ReceiverHealth {
    this.#known ??= parseHealth(this.#state.read());
    return this.#known;
  }

  /** Writes health that changed. Most attempts of a healthy webhook change nothing. */
  #writeHealth(health: ReceiverHealth): void {
    const json = JSON.stringify(health);
    if (json !== JSON.stringify(this.#readHealth())) this.#state.write(json);
    this.#known = health;
  }
}

const toLogged = (result: AttemptResult, startedAt: number): DeliveryAttempt => ({
  attempted_at: presentTime(startedAt),
  duration_ms: result.durationMs,
  status_code: result.statusCode,
  error_class: result.errorClass,
  error: result.error,
  answer: result.answer,
  ...(result.requestHeaders && { request_headers: result.requestHeaders }),
  ...(result.responseHeaders && { response_headers: result.responseHeaders }),
});
