/** What wrangler.toml deploys, and how `npm start` differs from it. */
import path from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { DEVELOPMENT_BINDINGS, DEVELOPMENT_SETTINGS } from "../../src/cli/service/development.ts";
import { webhookDevTargets, workflowDevTargets } from "../../src/platform/config/hosts.ts";
import type { Settings } from "../../src/platform/config/settings.ts";
import { signUpPolicy } from "../../src/platform/config/sign-up.ts";
import { ROOT } from "./processes.ts";

const config = readConfig({ config: path.join(ROOT, "wrangler.toml") }, { hideWarnings: true });
const vars = config.vars as Settings;

describe("a deployment", () => {
  it("names its resources, which wrangler creates or finds: there are no ids to fill in", () => {
    expect(config.d1_databases).toMatchObject([{ binding: "DB", database_name: "atrium" }]);
    expect(config.d1_databases[0]?.database_id).toBe(undefined);
    expect(config.r2_buckets).toMatchObject([{ binding: "FILES", bucket_name: "atrium-files" }]);
    expect(JSON.stringify(config)).not.toMatch(/0{8}/);
  });

  it("needs neither a dispatch namespace nor a Worker Loader; `npm start` has workflows without any set-up", () => {
    expect([config.dispatch_namespaces, config.worker_loaders]).toEqual([[], []]);
    expect(DEVELOPMENT_BINDINGS).toEqual({ workerLoaders: { LOADER: {} } });
  });

  it("lets people sign up by invitation only, until the operator opens it; `npm start` is open", () => {
    expect(signUpPolicy(vars)).toEqual({ type: "invite" });
    expect(signUpPolicy({ ...DEVELOPMENT_SETTINGS, ...vars })).toEqual({ type: "open" });
  });

  it("lets webhooks and workflows reach public hosts only: the configuration has no development settings", () => {
    expect(Object.keys(vars).filter((name) => name.endsWith("_DEV_TARGETS"))).toEqual([]);
    expect([webhookDevTargets(vars), workflowDevTargets(vars)]).toEqual([[], []]);
  });
});
