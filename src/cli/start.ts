/** `npm start`: serves Atrium on this machine, with the secrets, the tables and a demo organization. */
import path from "node:path";
import { parseArgs } from "node:util";
import { bundleCurrentWorker, CONFIG } from "./bundle/worker-bundle.ts";
import { DEFAULT_PERSIST_TO } from "./database.ts";
import { confirmDemo, prepareDemo } from "./demo.ts";
import { CommandError, runCommand, UsageError } from "./process/command.ts";
import { createPrivately, makePrivateFolder } from "./process/folder.ts";
import { ensureDevSecrets } from "./secrets.ts";
import { findPortProblem, type PortProblem } from "./service/port.ts";
import { type Server, startServer } from "./service/server.ts";
import { isStateFolder, lockStateFolder } from "./service/state-lock.ts";
import { watch } from "./service/watchdog.ts";
import { banner } from "./start-banner.ts";

const DEFAULT_PORT = 8787;
const MAX_PORT = 65_535;
const USAGE = "Usage: npm start -- [--port 1-65535] [--host NAME] [--persist-to DIR]";
const HELP = `${USAGE}

Serves Atrium on this machine: the API, rooms, the dashboard, the demo and the documentation.

  --port N          the port; ${DEFAULT_PORT} by default
  --host NAME       the address to listen at: localhost by default, 0.0.0.0 for all of this machine's
  --persist-to DIR  where everything is stored; .wrangler/state by default

Secrets and settings are in .dev.vars, and in variables such as ATRIUM_SIGN_UP. docs/guides/operating.md says more.`;

interface Arguments {
  readonly port: number;
  readonly host: string;
  readonly persistTo: string;
}

function parseArguments(args: string[]): Arguments {
  const flags = readFlags(args);
  const {
    port = String(DEFAULT_PORT),
    host = "localhost",
    "persist-to": persistTo = DEFAULT_PERSIST_TO,
  } = flags;
  const isPort = /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= MAX_PORT;
  if (!isPort || host === "" || persistTo === "") throw new UsageError(USAGE);
  return { port: Number(port), host, persistTo: path.resolve(persistTo) };
}

function readFlags(args: string[]) {
  try {
    const [port, host, persistTo] = [{ type: "string" }, { type: "string" }, { type: "string" }] as const;
    return parseArgs({ args, options: { port, host, "persist-to": persistTo } }).values;
  } catch {
    throw new UsageError(USAGE);
  }
}

function portError(port: number, problem: PortProblem): CommandError {
  if (problem === "EACCES") {
    return new CommandError(
      `Port ${port} needs administrator rights. Try another one: npm start -- --port ${DEFAULT_PORT}`,
    );
  }
  const next = port < MAX_PORT ? port + 1 : DEFAULT_PORT;
  return new CommandError(
    `Port ${port} is in use. Stop the program that uses it, or choose another port: npm start -- --port ${next}`,
  );
}

/** Restarts workerd when something keeps its thread: nothing inside the service can stop that. */
function watchService(url: string, { ready, ended, groupId, restart }: Server, stop: AbortSignal): void {
  const over = new AbortController();
  const until = AbortSignal.any([stop, over.signal]);
  const end = () => over.abort();
  ended.then(end, end);
  const watching = ready.then(() => watch({ url, groupId, program: "workerd" }, restart, until));
  watching.catch((error: unknown) => {
    if (!until.aborted) console.error(`The service is not restarted if it hangs: ${String(error)}`);
  });
}

/** Locks the state folder. A service that has it is named first, even where the port is taken as well. */
async function reserve(port: number, persistTo: string): Promise<void> {
  const problem = await findPortProblem(port);
  if (problem === null || isStateFolder(persistTo)) {
    await makePrivateFolder(persistTo);
    await lockStateFolder(persistTo, port);
  }
  if (problem !== null) throw portError(port, problem);
}

async function main(stop: AbortSignal): Promise<void> {
  const { port, host, persistTo } = parseArguments(process.argv.slice(2));
  createPrivately();
  await reserve(port, persistTo);
  const added = await ensureDevSecrets();
  if (added.length > 0) console.log(`Added to .dev.vars for development: ${added.join(", ")}`);
  const modules = await bundleCurrentWorker(stop);
  const demo = await prepareDemo(persistTo, stop);

  console.log("Starting the service …");
  const options = { port, host, persistTo, demoAccountId: demo.accountId, config: CONFIG, modules };
  const server = startServer(options, stop);
  const url = `http://localhost:${port}`;
  const announce = async () => {
    await server.ready;
    const confirmed = await confirmDemo(url, persistTo, demo, stop);
    // The service was started for the demo of the organization that existed until now.
    console.log(banner(url, confirmed, confirmed.accountId === demo.accountId));
  };
  // The service is useful without its demo, so this failure only gets a line.
  announce().catch((error: unknown) => {
    if (!stop.aborted) console.error(`The demo organization is not usable: ${String(error)}`);
  });
  watchService(url, server, stop);
  const exitCode = await server.ended;
  stop.throwIfAborted();
  const how = exitCode === null ? "killed" : `exit code ${exitCode}`;
  throw new CommandError(`The service has ended unexpectedly (${how}).`);
}

await runCommand(main, { help: HELP, interruptedExitCode: 0 });
