/** Runs once around the network tests: bundles the Worker and creates the tables that every killable service starts with. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { bundleCurrentWorker } from "../../../src/cli/bundle/worker-bundle.ts";
import { CONFIG } from "../../../src/cli/process/wrangler.ts";
import { DEVELOPMENT } from "../../../src/cli/service/development.ts";
import { makeOnce } from "../cli/made-once.ts";
import { createAccount } from "../cli/service.ts";
import type { NamedWorker, PreparedService } from "./killable-service.ts";

const LIMIT_MS = 180_000;

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(path.join(tmpdir(), "atrium-prepared-"));
  const prepared = await makeOnce(() => prepare(directory));
  provide("preparedServiceUrl", prepared.url);
  return async () => {
    prepared.close();
    await prepared.made()?.catch(() => undefined); // the tests that asked have already failed
    await rm(directory, { recursive: true, force: true });
  };
}

async function prepare(directory: string): Promise<PreparedService> {
  const state = path.join(directory, "state");
  const [organization, atrium] = await Promise.all([
    createAccount({ persistTo: state }, "Endurance"),
    describeWorker(),
  ]);
  return { state, organization, atrium };
}

/** The Worker as `npm start` bundles it, for which it is bundled already where another test has started the service. */
async function describeWorker(): Promise<NamedWorker> {
  return {
    ...unstable_getMiniflareWorkerOptions(CONFIG).workerOptions,
    ...DEVELOPMENT.bindings,
    ...(await bundleCurrentWorker(AbortSignal.timeout(LIMIT_MS))),
    name: "atrium",
    bindings: {
      JWT_SECRET: "a-secret-of-the-tests-and-of-nothing-else",
      WEBHOOK_DEV_TARGETS: "127.0.0.1",
      WORKFLOW_DEV_TARGETS: "127.0.0.1",
    },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}
