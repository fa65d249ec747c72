/** Delivers events to a webhook: reads its row, makes the attempt, and decides by its result what follows. */
import { type Env, webhookDevTargets } from "../config.ts";
import { CachedRow } from "../delivery/cached-row.ts";
import type { DeliveryHandler, DeliveryOutcome, HandlerState } from "../delivery/handler.ts";
import type { OutgoingEvent } from "../delivery/port/subscriber-port.ts";
import { openTenant, type Tenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { presentTime } from "../platform/time.ts";
import { type AttemptResult, attempt } from "./attempt.ts";
import { type Health, judgeHealth, planRetry } from "./retry.ts";
import type { DeliveryAttempt } from "./schema.ts";
import { disableWebhook, selectStoredWebhook } from "./store.ts";
import type { StoredWebhook } from "./table.ts";

/** How long deliveries pause when the database fails. */
const DATABASE_PAUSE_MS = 5_000;

export class WebhookHandler implements DeliveryHandler {
  /** An attempt that may have arrived is repeated: receivers recognize repetitions by the event's id. */
  readonly interruption = null;
  readonly #tenant: Tenant;
  readonly #devTargets: readonly string[];
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<StoredWebhook>;

  constructor(env: Env, key: { accountId: string; id: string }, now: () => number, state: HandlerState) {
    this.#tenant = openTenant(env.DB, key.accountId);
    this.#devTargets = webhookDevTargets(env);
    this.#id = key.id;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectStoredWebhook(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
  }

  requireVersion(version: number): void {
    this.#row.requireVersion(version);
  }

  async deliver(event: OutgoingEvent, attempts: number): Promise<DeliveryOutcome> {
    try {
      const row = await this.#row.get();
      if (row === null) return { type: "orphaned" };
      if (row.enabled === 0) return { type: "failed", attempt: null, error: "The webhook was disabled" };
      return await this.#send(row, event, attempts);
    } catch (error) {
      this.#row.invalidate();
      const why = "The database failed during a delivery";
      logError(why, { account: this.#tenant.accountId, webhook: this.#id }, error);
      return { type: "postponed", until: this.#now() + DATABASE_PAUSE_MS, why };
    }
  }

  async #send(row: StoredWebhook, event: OutgoingEvent, attempts: number): Promise<DeliveryOutcome> {
    const startedAt = this.#now();
    const destination = {
      url: row.url,
      secrets: signingSecrets(row, startedAt),
      devTargets: this.#devTargets,
      ownHost: row.ownHost,
    };
    const ports = { fetch: (...args: Parameters<typeof fetch>) => fetch(...args), now: this.#now };
    const result = await attempt(destination, event, ports);
    const isDisabled = await this.#updateHealth(row, result);
    const logged = toLogged(result, startedAt);
    if (result.outcome === "delivered") return { type: "delivered", attempt: logged };
    const summary = { attempts: attempts + 1, result, now: this.#now(), random: Math.random };
    const retry = isDisabled ? null : planRetry(summary);
    const { error } = result;
    return retry === null
      ? { type: "failed", attempt: logged, error }
      : { type: "retry", at: retry.at, attempt: logged, error };
  }

  /** Disables the webhook, and returns true, when its receiver answered 410 or has failed for too long. */
  async #updateHealth(row: StoredWebhook, { outcome }: AttemptResult): Promise<boolean> {
    const before = parseHealth(this.#state.read());
    const now = this.#now();
    const { isHopeless, ...health } = judgeHealth(before, {
      hasFailed: outcome !== "delivered",
      version: row.updatedAt,
      now,
    });
    if (health.failingSince !== before.failingSince || health.version !== before.version) {
      this.#state.write(JSON.stringify(health));
    }
    if (outcome !== "gone" && !isHopeless) return false;
    this.#row.invalidate();
    await this.#tenant.db.run([disableWebhook(this.#tenant, this.#id, row.updatedAt, now)]);
    return true;
  }
}

/** The secrets that sign now, the newest first. */
const signingSecrets = (
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
});

/** As {@link WebhookHandler} wrote it; healthy before the first write. */
const parseHealth = (json: string): Health => ({
  failingSince: null,
  version: 0,
  ...(JSON.parse(json) as Partial<Health>),
});
