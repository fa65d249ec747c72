/** The Durable Object of an organization's request log: a bounded list of its latest API requests, some of them sampled. */
import { DurableObject } from "cloudflare:workers";
import type { LoggedRequest, RequestLogPage, RequestLogQuery } from "@atrium/contract/rest/request-log.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import type { Env } from "../../env.ts";
import { requestLogKeptMs } from "../../platform/config.ts";
import { logError } from "../../platform/log.ts";
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { openStub, type Stub } from "../../platform/objects/rpc.ts";
import type { Settings } from "../../platform/settings.ts";
import { RequestLogStore } from "./store.ts";

/** The interval of deletions. Expired requests are not shown in the meantime. */
const PRUNE_EVERY_MS = DAY_MS;

export class RequestLogObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly #keptMs: number;
  readonly #alarm: DurableAlarm;
  #store: RequestLogStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#keptMs = requestLogKeptMs(env);
    this.#store = new RequestLogStore(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      logError("The alarm of a request log could not be set", { object: String(ctx.id) }, error),
    );
  }

  append(requests: readonly LoggedRequest[]): void {
    this.#store.append(requests);
    this.#alarm.scheduleBy([this.clock() + PRUNE_EVERY_MS]);
  }

  list(query: RequestLogQuery): RequestLogPage {
    return this.#store.list(query, this.#keptFrom);
  }

  find(id: string): LoggedRequest | null {
    return this.#store.find(id, this.#keptFrom);
  }

  /** Prunes old entries, and deletes the whole storage with the last one. */
  override async alarm(): Promise<void> {
    this.#alarm.markFired();
    if (this.#store.prune(this.#keptFrom) > 0) this.#alarm.scheduleBy([this.clock() + PRUNE_EVERY_MS]);
    else await this.#clear();
  }

  async remove(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    this.#alarm.markFired();
    await this.#clear();
  }

  async #clear(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#store = new RequestLogStore(this.ctx.storage);
  }

  get #keptFrom(): number {
    return this.clock() - this.#keptMs;
  }
}

export type RequestLogs = (accountId: string) => Stub<RequestLogObject>;

export const openRequestLogs =
  (env: Pick<Env, "REQUEST_LOGS"> & Settings): RequestLogs =>
  (accountId) =>
    openStub(env, env.REQUEST_LOGS, accountId);
