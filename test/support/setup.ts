/** Runs before each test file: gives its D1 database the tables of the real migrations. */
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Env } from "../../src/config.ts";
import type { NamespaceVariables } from "../../src/sandbox/runners/namespace-settings.ts";
import type { Dispatcher } from "./namespace/dispatcher.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AtriumEnv {
      readonly TEST_MIGRATIONS: D1Migration[];
      /** The stand-in for a dispatch namespace: its binding, its API, and the settings that fit them. */
      readonly NAMESPACE_DISPATCHER: Service<Dispatcher>;
      readonly NAMESPACE_API: Fetcher;
      readonly NAMESPACE_SETTINGS: NamespaceVariables;
    }
  }
}
type AtriumEnv = Env;

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
