/** Runs before each test file: gives D1 the tables of the real migrations, and lets no test log an unexpected error. */
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import type { Env } from "../../src/env.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import type { GuessLimitObject } from "../../src/features/people/guess-limit-object.ts";
import type { RequestRateObject } from "../../src/features/quotas/request-rate-object.ts";
import type { RequestLogObject } from "../../src/features/request-log/request-log-object.ts";
import type { Settings } from "../../src/platform/settings.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import "../../src/index.ts";
import { loadLate } from "../../src/platform/lazily.ts";
import { captureLog, expectNothingElseLogged } from "./log-guard.ts";
import type { Dispatcher } from "./namespace/dispatcher.ts";
import { recordPlans } from "./plan-guard.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AtriumEnv {
      readonly FILES: R2Bucket;
      /** Objects by their classes, so that tests can run code inside them. */
      readonly ROOMS: DurableObjectNamespace<RoomObjectBase>;
      readonly SUBSCRIBERS: DurableObjectNamespace<SubscriberObjectBase>;
      readonly EVENT_LOGS: DurableObjectNamespace<EventLogObject>;
      readonly REQUEST_LOGS: DurableObjectNamespace<RequestLogObject>;
      readonly REQUEST_RATES: DurableObjectNamespace<RequestRateObject>;
      readonly GUESS_LIMITS: DurableObjectNamespace<GuessLimitObject>;
      readonly INBOXES: DurableObjectNamespace<InboxObjectBase>;
      readonly TEST_MIGRATIONS: D1Migration[];
      /** Further databases for organizations. */
      readonly DB_2: D1Database;
      readonly DB_3: D1Database;
      /** The stand-in for a dispatch namespace: its binding, its API, and the settings that fit them. */
      readonly NAMESPACE_DISPATCHER: Service<Dispatcher>;
      readonly NAMESPACE_API: Fetcher;
      readonly NAMESPACE_SETTINGS: Settings;
    }
  }
}
type AtriumEnv = Omit<
  Env,
  "ROOMS" | "SUBSCRIBERS" | "EVENT_LOGS" | "REQUEST_LOGS" | "REQUEST_RATES" | "GUESS_LIMITS" | "INBOXES"
>;

await loadLate();
for (const database of [env.DB, env.DB_2, env.DB_3]) await applyD1Migrations(database, env.TEST_MIGRATIONS);

captureLog();
afterEach(expectNothingElseLogged);
afterAll(recordPlans());
