/** Which settings wrangler.toml gives a deployment, and which it must not. */
import path from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { namespaceSettings, signUpPolicy, webhookDevTargets, workflowDevTargets } from "../../src/config.ts";
import { ROOT } from "./processes.ts";

/** Without wrangler's warning that production has no `worker_loaders`: a test below requires it. */
const read = (env?: string) =>
  readConfig(
    { config: path.join(ROOT, "wrangler.toml"), ...(env === undefined ? {} : { env }) },
    { hideWarnings: true },
  );

describe("in production", () => {
  it("workflows run in the namespace that their code is uploaded to; elsewhere they need no setup", () => {
    const { dispatch_namespaces, worker_loaders, vars } = read("production");
    expect(dispatch_namespaces).toEqual([{ binding: "DISPATCHER", namespace: vars.WORKFLOWS_NAMESPACE }]);
    expect(worker_loaders).toEqual([]);
    expect(namespaceSettings({ ...vars, WORKFLOWS_API_TOKEN: "a secret" })).toMatchObject({
      namespace: "atrium-workflows",
      apiUrl: "https://api.cloudflare.com/client/v4",
    });
    expect(read()).toMatchObject({
      dispatch_namespaces: [],
      worker_loaders: [{ binding: "LOADER" }],
    });
    expect(Object.keys(read().vars).filter((name) => name.startsWith("WORKFLOW"))).toEqual([]);
  });

  it("people sign up by invitation only, until the operator opens it; `npm start` is open", () => {
    expect(signUpPolicy(read("production").vars)).toEqual({ type: "invite" });
    expect(signUpPolicy(read().vars)).toEqual({ type: "open" });
  });

  it("webhooks and workflows only reach public hosts: the configuration has no development settings", () => {
    for (const { vars } of [read("production"), read()]) {
      expect(Object.keys(vars).filter((name) => name.endsWith("_DEV_TARGETS"))).toEqual([]);
      expect([webhookDevTargets(vars), workflowDevTargets(vars)]).toEqual([[], []]);
    }
  });
});
