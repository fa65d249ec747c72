/** How the tests run: inside workerd against real bindings, in Node across the network, and in a browser. */
import path from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { bundleServedFiles } from "../src/cli/bundle/served-files.ts";
import { DEVELOPMENT } from "../src/cli/service/development.ts";
import { readRuns } from "./node/endurance/runs.ts";
import { NAMESPACE, namespaceWorker } from "./support/namespace/worker.ts";
import { omitProvokedLines } from "./support/runtime-lines.ts";

const root = path.join(import.meta.dirname, "..");
omitProvokedLines();
// Commands that the tests start many times are compiled once.
process.env.NODE_COMPILE_CACHE ??= path.join(root, ".wrangler/compiled");

const provide = { endurance: readRuns(process.env) };
/** Polls wait long: the machine may be busy. */
const expectOptions = { poll: { timeout: 100_000 } };

/** Tests of the Worker keep two cores busy; those across the network, which mostly wait, follow. */
const FIRST = { groupOrder: 0 };
const THEN = { groupOrder: 1 };
const LAST = { groupOrder: 2 };

/** Files that wait long without computing, and so begin first. */
const WAITING =
  /cli\/(account|deployment-archive|move|start|stop)\.test|running-service|runaways|stories\/(events|files|workflows)|watchdog|demo\.test|dashboard-(access|overview|rooms)/;

class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = ({ moduleId }: TestSpecification) => WAITING.test(moduleId);
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: WaitingFirst },
    projects: [
      {
        root,
        plugins: [
          cloudflareTest(async () => {
            // The plugin runs no custom build. A planted bug would make the bundles anew, and is not in their code.
            if (process.env.TEST_BUNDLES !== "kept") await bundleServedFiles();
            return {
              wrangler: { configPath: path.join(root, "wrangler.toml") },
              // Otherwise workerd also reports each exception that a test catches on the other side of an RPC call.
              verbose: false,
              miniflare: {
                ...DEVELOPMENT.bindings,
                d1Databases: { DB_2: "atrium-2", DB_3: "atrium-3" },
                bindings: {
                  ...DEVELOPMENT.settings,
                  JWT_SECRET: "a-secret-of-the-tests-and-of-nothing-else",
                  VAPID_PRIVATE_KEY: "2mmLg5DGZA8pGKJVvJfXcnNRr3rW-rZDdlBZUAAAVlQ",
                  // Off except in their own tests: elsewhere, an object per organization is wasted work.
                  REQUEST_LOG: "off",
                  REQUEST_QUOTA: "off",
                  // Tests that read the database know where to look; those of placement choose another one.
                  PLACE_ORGANIZATIONS_IN: process.env.TEST_PLACE ?? "DB",
                  WEBHOOK_DEV_TARGETS: "127.0.0.1",
                  WORKFLOW_DEV_TARGETS: "127.0.0.1",
                  TEST_MIGRATIONS: await readD1Migrations(path.join(root, "migrations")),
                  NAMESPACE_SETTINGS: {
                    WORKFLOWS_CF_ACCOUNT_ID: NAMESPACE.accountId,
                    WORKFLOWS_NAMESPACE: NAMESPACE.namespace,
                    WORKFLOWS_API_TOKEN: NAMESPACE.token,
                    WORKFLOWS_API_URL: "http://namespace/client/v4/",
                  },
                },
                workers: [await namespaceWorker()],
                serviceBindings: {
                  NAMESPACE_DISPATCHER: { name: "namespace", entrypoint: "Dispatcher" },
                  NAMESPACE_API: "namespace",
                },
              },
            };
          }),
        ],
        test: {
          name: "worker",
          expect: expectOptions,
          include: ["test/**/*.test.ts", "test/contracts/*.ts"],
          exclude: ["test/node/**"],
          provide,
          maxWorkers: 2,
          // Tests keep apart by organization and room: two workerd processes serve all files, instead of one each.
          isolate: false,
          sequence: FIRST,
          setupFiles: ["test/support/setup.ts"],
          globalSetup: ["test/support/receiver.ts", "test/support/provider.ts"],
          // Against hanging, not against being slow: the machine may have other things to do.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        root,
        test: {
          name: "browser",
          expect: expectOptions,
          include: ["test/node/browser/**/*.test.ts"],
          globalSetup: [
            "test/node/cli/shared-service.setup.ts",
            "test/node/endurance/killable-service.setup.ts",
          ],
          // Longer than any wait within a test, so that the wait that fails is named.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // Pages wait for the service, and for animations.
          maxWorkers: 3,
          // Each file has its own browser: what they import is loaded once by each worker.
          isolate: false,
          sequence: LAST,
        },
      },
      {
        root,
        test: {
          name: "editors",
          expect: expectOptions,
          include: ["test/node/editors/*.test.ts"],
          globalSetup: ["test/node/endurance/killable-service.setup.ts"],
          testTimeout: 600_000,
          hookTimeout: 240_000,
        },
      },
      {
        root,
        test: {
          name: "display",
          expect: expectOptions,
          include: ["test/node/display/*.test.ts"],
          globalSetup: ["test/node/cli/shared-service.setup.ts"],
          provide,
          hookTimeout: 240_000,
        },
      },
      {
        root,
        test: {
          name: "architecture",
          include: [
            "test/node/{architecture,language}.test.ts",
            "test/node/docs/{links,quotas,samples,sdk,snippets}.test.ts",
          ],
          maxWorkers: 3,
        },
      },
      {
        root,
        test: {
          name: "network",
          expect: expectOptions,
          include: ["test/node/{stories,sdk,cli,endurance}/**/*.test.ts", "test/node/docs/*-tours.test.ts"],
          globalSetup: [
            "test/node/cli/shared-service.setup.ts",
            "test/node/endurance/killable-service.setup.ts",
          ],
          provide,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // Many of them wait for a clock, or for a command that starts: fewer would leave cores idle.
          maxWorkers: 4,
          isolate: false,
          sequence: THEN,
        },
      },
    ],
  },
});
