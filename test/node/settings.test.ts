/** What a deployment is given by this checkout, and what it must not be given. */
import path from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { webhookDevTargets } from "../../src/env.ts";
import { ROOT } from "./processes.ts";

const read = (env?: string) =>
  readConfig({ config: path.join(ROOT, "wrangler.toml"), ...(env === undefined ? {} : { env }) });

describe("in production", () => {
  it("webhooks reach public hosts alone: no setting of development is in the configuration", () => {
    for (const { vars } of [read("production"), read()]) {
      expect(Object.keys(vars)).not.toContain("WEBHOOK_DEV_TARGETS");
      expect(webhookDevTargets(vars)).toEqual([]);
    }
  });
});
