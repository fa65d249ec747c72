/** Delivers events to a webhook: reads its row, makes the attempt, and decides by its result what follows. */
import { type Env, ownHosts, webhookDevTargets } from "../config.ts";
import { CachedRow } from "../delivery/cached-row.ts";
import { fanOut } from "../delivery/fan-out.ts";
import type {
  BacklogReport,
  DeliveryHandler,
  DeliveryOutcome,
  HandlerState,
  Pace,
} from "../delivery/handler.ts";
import type { OutgoingEvent, SubscriberGateway } from "../delivery/port/subscriber-port.ts";
import { subscriberGateway } from "../delivery/subscriber-gateway.ts";
import { openTenant, type Tenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { presentTime } from "../platform/time.ts";
import { type AttemptResult, attempt } from "./attempt.ts";
import { presentBacklogged } from "./backlog-event.ts";
import { averageLatency, type Circuit, CLOSED, judgeCircuit, paceOf } from "./circuit.ts";
import { judgeProof, type Proof, proofFor, UNKNOWN } from "./proof.ts";
import { type Health, judgeHealth, planRetry } from "./retry.ts";
import { type DeliveryAttempt, presentWebhook } from "./schema.ts";
import { disableWebhook, markBacklogged, selectStoredWebhook } from "./store.ts";
import type { DisabledReason, StoredWebhook } from "./table.ts";

/** How long deliveries pause when the database fails. */
const DATABASE_PAUSE_MS = 5_000;
const DISABLED = "The webhook was disabled";
/** The reasons that end when the receiver works again: what waits is kept until then. */
const SUSPENSIONS: readonly (DisabledReason | null)[] = ["failing", "backlogged"];

export class WebhookHandler implements DeliveryHandler {
  /** An attempt that may have arrived is repeated: receivers recognize repetitions by the event's id. */
  readonly interruption = null;
  readonly #tenant: Tenant;
  readonly #subscribers: SubscriberGateway;
  readonly #devTargets: readonly string[];
  readonly #ownHosts: readonly string[];
  readonly #id: string;
  readonly #now: () => number;
  readonly #state: HandlerState;
  readonly #row: CachedRow<StoredWebhook>;
  /** The average of the latest attempts; null before the first one. */
  #latencyMs: number | null = null;
  /** The state as it is stored; null until it is first read. */
  #known: State | null = null;

  constructor(env: Env, key: { accountId: string; id: string }, now: () => number, state: HandlerState) {
    this.#tenant = openTenant(env.DB, key.accountId);
    this.#subscribers = subscriberGateway(env);
    this.#devTargets = webhookDevTargets(env);
    this.#ownHosts = ownHosts(env);
    this.#id = key.id;
    this.#now = now;
    this.#state = state;
    this.#row = new CachedRow(async () => {
      const [[row]] = await this.#tenant.db.run([selectStoredWebhook(this.#tenant, key.id)]);
      return row ?? null;
    }, now);
  }

  /** A receiver that has not shown that it wants our events gets them one at a time. */
  get pace(): Pace {
    const { circuit, proof } = this.#readState();
    return paceOf(circuit, proof.isProven, this.#latencyMs);
  }

  /** A change of the row gives its receiver another chance at once. */
  requireVersion(version: number): void {
    this.#row.requireVersion(version);
    const state = this.#readState();
    if (Number.isFinite(version) && version > state.version) this.#writeState({ ...state, circuit: CLOSED });
  }

  async deliver(event: OutgoingEvent, attempts: number): Promise<DeliveryOutcome> {
    try {
      const row = await this.#row.get();
      if (row === null) return { type: "orphaned" };
      if (row.enabled === 0) {
        return SUSPENSIONS.includes(row.disabledReason)
          ? { type: "suspended", why: DISABLED }
          : { type: "disabled", error: DISABLED };
      }
      return await this.#send(row, event, attempts);
    } catch (error) {
      this.#row.invalidate();
      const why = "The database failed during a delivery";
      logError(why, { account: this.#tenant.accountId, webhook: this.#id }, error);
      return { type: "postponed", until: this.#now() + DATABASE_PAUSE_MS, why };
    }
  }

  async suspend(): Promise<void> {
    const row = await this.#row.get();
    if (row === null || row.enabled === 0) return;
    this.#row.invalidate();
    await this.#disable(row, "backlogged");
  }

  /** Marks the webhook, and notifies the organization's other webhooks that listen to that. */
  async reportBacklog(report: BacklogReport | null): Promise<void> {
    const since = report === null ? null : (report.oldestAt ?? report.now);
    const [[row]] = await this.#tenant.db.run([markBacklogged(this.#tenant, this.#id, since)]);
    if (report === null || row === undefined) return;
    const event = {
      id: report.eventId,
      event: "webhook.backlogged",
      occurredAt: report.now,
      body: presentBacklogged(presentWebhook(row), report),
      pendingSubscriptions: null,
    } as const;
    // The event concerns no room: webhooks of one room do not receive it, and in its place stands what it is about.
    const unreached = await fanOut(this.#tenant, this.#subscribers, this.#id, [event], this.#id);
    if (unreached.size > 0) throw new Error("Some webhooks could not be notified of another one's backlog");
  }

  async #disable({ updatedAt }: StoredWebhook, reason: DisabledReason): Promise<void> {
    await this.#tenant.db.run([disableWebhook(this.#tenant, this.#id, updatedAt, reason, this.#now())]);
  }

  async #send(row: StoredWebhook, event: OutgoingEvent, attempts: number): Promise<DeliveryOutcome> {
    const startedAt = this.#now();
    const destination = {
      url: row.url,
      secrets: signingSecrets(row, startedAt),
      devTargets: this.#devTargets,
      ownHosts: [...this.#ownHosts, row.ownHost],
    };
    const ports = { fetch: (...args: Parameters<typeof fetch>) => fetch(...args), now: this.#now };
    const result = await attempt(destination, event, ports);
    this.#latencyMs = averageLatency(this.#latencyMs, result.durationMs);
    const { isRefused, restMs } = await this.#updateState(row, result, startedAt);
    const logged = toLogged(result, startedAt);
    if (result.outcome === "delivered") return { type: "delivered", attempt: logged };
    const summary = { attempts: attempts + 1, result, now: this.#now(), random: Math.random };
    const retry = isRefused ? null : planRetry(summary);
    const failed = { attempt: logged, error: result.error, restMs };
    return retry === null ? { type: "failed", ...failed } : { type: "retry", at: retry.at, ...failed };
  }

  /** Records the attempt. Disables the webhook when its receiver answered 410, has failed for too long, or never worked. */
  async #updateState(
    row: StoredWebhook,
    { outcome }: AttemptResult,
    startedAt: number,
  ): Promise<{ readonly isRefused: boolean; readonly restMs: number }> {
    const before = this.#readState();
    const now = this.#now();
    const hasFailed = outcome !== "delivered";
    const { isHopeless, ...health } = judgeHealth(before, { hasFailed, version: row.updatedAt, now });
    const known = proofFor(before.proof, row.url, row.updatedAt);
    const { proof, restMs, isRefuted } = judgeProof(known, hasFailed);
    const circuit = judgeCircuit(before.circuit, { hasFailed, startedAt, now });
    this.#writeState({ ...health, proof, circuit: proof.isProven ? circuit : CLOSED });
    const reason = reasonToDisable({ isGone: outcome === "gone", isHopeless, isRefuted });
    if (reason !== null) {
      this.#row.invalidate();
      await this.#disable(row, reason);
    }
    return { isRefused: reason !== null && !SUSPENSIONS.includes(reason), restMs };
  }

  #readState(): State {
    this.#known ??= parseState(this.#state.read());
    return this.#known;
  }

  /** Writes what has changed: most attempts of a healthy webhook change nothing. */
  #writeState(state: State): void {
    const json = JSON.stringify(state);
    if (json !== JSON.stringify(this.#readState())) this.#state.write(json);
    this.#known = state;
  }
}

function reasonToDisable(found: {
  readonly isGone: boolean;
  readonly isHopeless: boolean;
  readonly isRefuted: boolean;
}): DisabledReason | null {
  if (found.isGone) return "gone";
  if (found.isHopeless) return "failing";
  return found.isRefuted ? "unproven" : null;
}

/** What the handler keeps with its subscriber. */
interface State extends Health {
  readonly proof: Proof;
  readonly circuit: Circuit;
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

/** As {@link WebhookHandler} wrote it. Earlier versions wrote no proof and no circuit: the next delivery gives them. */
function parseState(json: string): State {
  const { failingSince = null, version = 0, proof, circuit } = JSON.parse(json) as Partial<State>;
  return { failingSince, version, proof: proof ?? UNKNOWN, circuit: circuit ?? CLOSED };
}
