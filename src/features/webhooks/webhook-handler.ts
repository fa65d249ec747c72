/** Delivers events to a webhook: reads its row, makes the attempt, and acts on the result. */
import type { SubscriberKey } from "../../delivery/outbox/subscription.ts";
import { OpenSigningSecrets, signingSealer } from "../../delivery/signing-secret-store.ts";
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
import { type DeliveryObjects, openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { CachedRow } from "../../platform/cache.ts";
import { jwtSecrets, ownHosts } from "../../platform/config.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { readSetting } from "../../platform/settings.ts";
import { DELIVERIES } from "../../platform/telemetry/data-sets.ts";
import { metrics, reportFailure, writeMetrics } from "../../platform/telemetry/telemetry.ts";
import { presentTime } from "../../platform/time.ts";
import { readTrace, type Trace } from "../../platform/trace.ts";
import { attempt, batchOf, messageOf } from "./attempt.ts";
import type { DeliveryAttempt } from "./delivery-schema.ts";
import { Disabling } from "./disabling.ts";
import {
  CLOSED,
  Connections,
  capacityAfter,
  judgeAttempt,
  paceOf,
  parseHealth,
  planRetry,
  type ReceiverHealth,
  UNTRIED,
} from "./receiver-health.ts";
import { parseBatch } from "./schema.ts";
import { selectStoredWebhook } from "./store.ts";
import type { DisabledReason, StoredWebhook } from "./table.ts";

const DATABASE_PAUSE_MS = 5_000;
const DISABLED = "The webhook was disabled";
/** How long deliveries pause when the secret cannot be opened: until it is rotated. */
const SECRET_PAUSE_MS = 60_000;
/** The reasons that end when the receiver works again: what waits is kept until then. */
const SUSPENSIONS: readonly (DisabledReason | null)[] = ["failing", "backlogged"];

export class WebhookHandler implements DeliveryHandler {
  /** An attempt that may have arrived is repeated: receivers recognize repetitions by the event's id. */
  readonly interruption = null;
  readonly #env: Env;
  readonly #tenant: Tenant;
  readonly #objects: DeliveryObjects;
  readonly #devTargets: readonly string[];
  readonly #ownHosts: readonly string[];
  readonly #key: SubscriberKey;
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<StoredWebhook>;
  readonly #connections = new Connections();
  readonly #secrets: OpenSigningSecrets;
  readonly #disabling: Disabling;
  #capacity = UNTRIED;
  #known: ReceiverHealth | null = null;

  constructor(env: Env, key: SubscriberKey, now: () => number, state: HandlerState) {
    this.#env = env;
    this.#tenant = openTenant(env, key.accountId);
    this.#objects = openDelivery(env);
    this.#devTargets = readSetting(env, "WEBHOOK_DEV_TARGETS");
    this.#ownHosts = ownHosts(env);
    this.#key = key;
    this.#secrets = new OpenSigningSecrets(key, () => signingSealer(jwtSecrets(env)));
    this.#id = key.id;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectStoredWebhook(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
    const ports = { env, now, tenant: this.#tenant, objects: this.#objects, log: this.#log };
    this.#disabling = new Disabling(key.id, ports);
  }

  /** A receiver that has not shown that it wants our events gets them one at a time. */
  get pace(): Pace {
    const { circuit, proof } = this.#readHealth();
    return paceOf(circuit, proof.isProven, this.#capacity);
  }

  /** A change of the row gives its receiver another chance at once. */
  requireVersion(version: number): void {
    this.#row.requireVersion(version);
    const health = this.#readHealth();
    if (Number.isFinite(version) && version > health.version)
      this.#writeHealth({ ...health, circuit: CLOSED });
  }

  release(): void {}

  /** As the row had it when it was last read: the first request after a change still has the old limits. */
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
      if (row !== null && (await this.#disable(row))) row = await this.#row.get();
      if (row === null) return { type: "orphaned" };
      if (row.enabled === 0) {
        await this.#disabling.notifyOfDisabled(row);
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
    if (row === null || row.enabled === 0) return;
    this.#row.invalidate();
    await this.#disabling.disable(row, "backlogged");
  }

  reportBacklog(report: BacklogReport | null): Promise<void> {
    return this.#disabling.reportBacklog(report);
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
    const message = batch === null ? messageOf(events[0]) : await batchOf(events);
    const startedAt = this.#now();
    const secrets = await this.#secrets.open(secretsInForce(row, startedAt), this.#log);
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
    const { isRefused, restMs } = await this.#judge(row, result, startedAt);
    const logged = {
      ...toLogged(result, startedAt),
      ...(batch === null ? {} : { events: events.length }),
    };
    if (result.outcome === "delivered") return { type: "delivered", attempt: logged };
    const summary = { attempts: attempts + 1, result, now: this.#now(), random: Math.random };
    const retry = isRefused ? null : planRetry(summary);
    const failed = { attempt: logged, error: result.error, restMs };
    return retry === null ? { type: "failed", ...failed } : { type: "retry", at: retry.at, ...failed };
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
    const series = metrics.series(DELIVERIES, { outcome, error_class: errorClass ?? "none" });
    series.add("events", events.length);
    series.time("duration", durationMs);
    for (const { occurredAt, replayId } of attempts === 0 ? events : [])
      if (replayId === null) series.time("wait", Math.max(0, startedAt - occurredAt));
    writeMetrics(this.#env);
  }

  readonly #log = (message: string, error: unknown, trace: Trace | null = null): void => {
    const { accountId: account } = this.#tenant;
    reportFailure("delivery", message, { account, webhook: this.#id, request: trace?.requestId }, error);
  };

  /** Records what an attempt says of the receiver, and disables the webhook if it has to be. */
  async #judge(
    row: StoredWebhook,
    { outcome }: AttemptResult,
    startedAt: number,
  ): Promise<{ readonly isRefused: boolean; readonly restMs: number }> {
    const ended = { outcome, startedAt, now: this.#now() };
    const { health, restMs } = judgeAttempt(this.#readHealth(), row, ended);
    this.#writeHealth(health);
    // The attempt was made, and is recorded. The next one first disables the webhook.
    await this.#disable(row).catch((error: unknown) =>
      this.#log("A webhook could not be disabled yet", error),
    );
    const { disabledReason } = health;
    return { isRefused: disabledReason !== null && !SUSPENSIONS.includes(disabledReason), restMs };
  }

  /** Disables the webhook if an attempt at this version of its row has said so. Returns true if it did. */
  async #disable(row: StoredWebhook): Promise<boolean> {
    const { version, disabledReason } = this.#readHealth();
    if (disabledReason === null || version !== row.updatedAt || row.enabled === 0) return false;
    this.#row.invalidate();
    await this.#disabling.disable(row, disabledReason);
    return true;
  }

  #readHealth(): ReceiverHealth {
    this.#known ??= parseHealth(this.#state.read());
    return this.#known;
  }

  /** Writes what has changed: most attempts of a healthy webhook change nothing. */
  #writeHealth(health: ReceiverHealth): void {
    const json = JSON.stringify(health);
    if (json !== JSON.stringify(this.#readHealth())) this.#state.write(json);
    this.#known = health;
  }
}

const secretsInForce = (
  { secret, previousSecret, previousSecretUntil }: StoredWebhook,
  now: number,
): string[] =>
  previousSecret !== null && now < (previousSecretUntil ?? 0) ? [secret, previousSecret] : [secret];

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
