/** `npm run dev -- endurance`: runs the randomized tests of data loss for as long as requested. */
import { spawn } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand, UsageError } from "../../../src/cli/process/command.ts";
import { ROOT } from "../../../src/cli/process/supervisor.ts";

const USAGE =
  "Usage: npm run dev -- endurance [--kills N] [--simulations N] [--scenarios N] [--clients N] [--connections N] " +
  "[--client-kills N] [--document-kills N] [--stream-kills N] [--workflow-kills N] [--events N] [--protocol N] [--runaways N] " +
  "[--revocations N] [--access-rooms N] [--notification-kills N] [--wakes N] [--mails N] [--restart-users N] [--deploys N] [--backup-kills N] [--hidden-tab MINUTES] [--seed N]";
const VITEST = path.join(ROOT, "node_modules/vitest/vitest.mjs");

/** Test files by option, and the variable that sets the number of runs. */
const TESTS = {
  simulations: {
    files: [
      "test/room/convergence/convergence.test.ts",
      "test/node/sdk/convergence.test.ts",
      "test/node/sdk/offline-model.test.ts",
    ],
    runs: "ATRIUM_SIMULATIONS",
  },
  scenarios: { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_SCENARIOS" },
  protocol: { files: ["test/room/fuzz/protocol.test.ts"], runs: "ATRIUM_PROTOCOL" },
  clients: { files: ["test/node/sdk/convergence.test.ts"], runs: "ATRIUM_CLIENTS" },
  connections: { files: ["test/node/sdk/connection-simulation.test.ts"], runs: "ATRIUM_CONNECTIONS" },
  events: { files: ["test/node/stories/events.test.ts"], runs: "ATRIUM_EVENTS" },
  "document-kills": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_DOCUMENT_KILLS" },
  "stream-kills": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_STREAM_KILLS" },
  "workflow-kills": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_WORKFLOW_KILLS" },
  "client-kills": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_CLIENT_KILLS" },
  "restart-users": { files: ["test/node/endurance/restart.test.ts"], runs: "ATRIUM_RESTART_USERS" },
  deploys: { files: ["test/node/sdk/deploy.test.ts"], runs: "ATRIUM_DEPLOYS" },
  "backup-kills": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_BACKUP_KILLS" },
  "hidden-tab": { files: ["test/node/display/hidden-tab.test.ts"], runs: "ATRIUM_HIDDEN_TAB" },
  revocations: { files: ["test/access/revocation.test.ts"], runs: "ATRIUM_REVOCATIONS" },
  "access-rooms": { files: ["test/node/endurance/running-service.test.ts"], runs: "ATRIUM_ACCESS_ROOMS" },
  "notification-kills": {
    files: ["test/room/notification-kills.test.ts"],
    runs: "ATRIUM_NOTIFICATION_KILLS",
  },
  wakes: { files: ["test/room/wake-histories.test.ts"], runs: "ATRIUM_WAKES" },
  mails: { files: ["test/inbox/channels.test.ts"], runs: "ATRIUM_MAILS" },
  runaways: { files: ["test/node/endurance/runaways.test.ts"], runs: "ATRIUM_RUNAWAYS" },
  kills: {
    files: ["test/node/endurance/running-service.test.ts", "test/node/stories/events.test.ts"],
    runs: "ATRIUM_KILLS",
  },
} as const;
type Name = keyof typeof TESTS;

await runCommand(
  async (stop) => {
    const { seed, ...counts } = readArguments();
    const environment: Record<string, string> = seed === undefined ? {} : { ATRIUM_SEED: seed };
    const files = new Set<string>();
    for (const [name, count] of Object.entries(counts)) {
      const { files: run, runs } = TESTS[name as Name];
      for (const file of run) files.add(file);
      environment[runs] = count;
    }
    for (const file of files) await runVitest(file, environment, stop);
  },
  { help: USAGE, interruptedExitCode: 130 },
);

function readArguments(): Partial<Record<Name | "seed", string>> {
  const given = parse();
  const { seed, ...counts } = given;
  const isCount = (text: string) => /^[1-9][0-9]{0,8}$/.test(text);
  const isSeed = seed === undefined || /^-?[0-9]{1,10}$/.test(seed);
  if (!isSeed || Object.keys(counts).length === 0 || !Object.values(counts).every(isCount))
    throw new UsageError(USAGE);
  return given;
}

function parse() {
  const option = { type: "string" } as const;
  try {
    return parseArgs({
      options: {
        kills: option,
        simulations: option,
        scenarios: option,
        clients: option,
        connections: option,
        "client-kills": option,
        "document-kills": option,
        "stream-kills": option,
        "workflow-kills": option,
        events: option,
        protocol: option,
        "restart-users": option,
        deploys: option,
        "backup-kills": option,
        "hidden-tab": option,
        revocations: option,
        "notification-kills": option,
        "access-rooms": option,
        wakes: option,
        mails: option,
        runaways: option,
        seed: option,
      },
    }).values;
  } catch {
    throw new UsageError(USAGE);
  }
}

async function runVitest(
  file: string,
  environment: Record<string, string>,
  stop: AbortSignal,
): Promise<void> {
  stop.throwIfAborted();
  const args = [VITEST, "run", "--config", "test/vitest.config.ts", file];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  const askToEnd = () => child.kill("SIGTERM");
  stop.addEventListener("abort", askToEnd, { once: true });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  stop.removeEventListener("abort", askToEnd);
  stop.throwIfAborted();
  if (exitCode !== 0) throw new CommandError(`${file} failed`);
}
