/** The Durable Object that knows an organization's request rate in the whole world, in memory: counters report again. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import { quotaDefaults } from "../../platform/config.ts";
import { isFenced } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { logError } from "../../platform/log.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { OrganizationRate, type RateReport, type RateShare } from "./organization-rate.ts";
import { usedOf } from "./queries.ts";
import { selectQuotas, setRate } from "./statements.ts";

/** The interval at which the rate is written to the database, and the limit read from there. */
const SYNC_MS = 15_000;
const ACCOUNT = "accountId";

export class RequestRateObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly #rates = new OrganizationRate();
  readonly #alarm: DurableAlarm;
  #limit: number;
  #syncedAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#limit = quotaDefaults(env).requests_per_second;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      logError("The alarm of a rate of requests could not be set", { object: String(ctx.id) }, error),
    );
  }

  /** Adds what a counter has counted in a window, and returns what it may let through in the next ones. */
  async report(accountId: string, report: RateReport): Promise<RateShare> {
    const now = this.clock();
    this.#rates.add(report, now);
    // Less than a request in two seconds costs the database nothing.
    if (this.#rates.total("wanted", now) > 0 && now >= this.#syncedAt + SYNC_MS) {
      await this.ctx.storage.put(ACCOUNT, accountId);
      this.#alarm.scheduleBy([now + SYNC_MS]); // first: a crash must not leave a rate that nothing lets fall
      await this.#sync(accountId, now);
    }
    return this.#rates.shareOf(report.counter, this.#limit, now);
  }

  /** The rate falls even if no one reports any more. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    const now = this.clock();
    const accountId = await this.ctx.storage.get<string>(ACCOUNT);
    if (accountId === undefined) return;
    const isWritten = await this.#sync(accountId, now);
    if (!isWritten || this.#rates.total("admitted", now) > 0) this.#alarm.scheduleBy([now + SYNC_MS]);
    else {
      await this.ctx.storage.deleteAll();
      this.#alarm.markFired(); // a report in the meantime may have set it
    }
  }

  /** Writes the rate, and reads the limit; false when the database fails, and the earlier limit holds. */
  async #sync(accountId: string, now: number): Promise<boolean> {
    this.#syncedAt = now;
    const tenant = openTenant(this.env, accountId);
    try {
      const [, rows] = await tenant.db.run([
        setRate(tenant, this.#rates.total("admitted", now)),
        selectQuotas(tenant),
      ]);
      this.#limit = usedOf(rows, "requests_per_second", quotaDefaults(this.env)).limit;
      return true;
    } catch (error) {
      if (!isFenced(error))
        logError("The rate of requests could not be written", { account: accountId }, error);
      return false;
    }
  }
}
