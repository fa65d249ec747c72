/** `npm start`: serves Atrium on this machine, with the secrets, the tables and an organization. */
import path from "node:path";
import { bundleCurrentWorker } from "./bundle/worker-bundle.ts";
import { DEFAULT_PERSIST_TO } from "./database.ts";
import { confirmDemo, type Demo, prepareDemo } from "./demo.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { createPrivately, makePrivateFolder } from "./process/folder.ts";
import { CONFIG } from "./process/wrangler.ts";
import { bearerOf, ensureDevSecrets } from "./secrets.ts";
import { findPortProblem, isStateFolder, lockStateFolder, type PortProblem } from "./service/reservation.ts";
import { type Server, startServer } from "./service/server.ts";
import { watch } from "./service/watchdog.ts";

const DEFAULT_PORT = 8787;
const MAX_PORT = 65_535;
const USAGE = "Usage: npm start -- [--port 1-65535] [--host NAME] [--persist-to DIR]";
const HELP = `${USAGE}

Serves Atrium on this machine: the API, rooms, the dashboard, the demo and the documentation.

  --port N          the port; ${DEFAULT_PORT} by default
  --host NAME       the address to listen at: localhost by default, 0.0.0.0 for all of this machine's
  --persist-to DIR  where everything is stored; .wrangler/state by default

Secrets and settings are in .dev.vars, and in variables such as ATRIUM_SIGN_UP. docs/guides/operating.md says more.`;

function parseArguments(args: string[]) {
  const text = { type: "string" } as const;
  const { values, positionals } = readFlags(USAGE, args, { port: text, host: text, "persist-to": text });
  const { host = "localhost", "persist-to": persistTo = DEFAULT_PERSIST_TO } = values;
  const port = /^[0-9]{1,5}$/.test(values.port ?? `${DEFAULT_PORT}`)
    ? Number(values.port ?? DEFAULT_PORT)
    : 0;
  const isValid = port >= 1 && port <= MAX_PORT && host !== "" && persistTo !== "";
  if (!isValid || positionals.length > 0) throw new UsageError(USAGE);
  return { port, host, persistTo: path.resolve(persistTo) };
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

/** Restarts workerd when its thread hangs: nothing inside the service can stop that. */
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
  const options = {
    port,
    host,
    persistTo,
    demoAccountId: demo.boardsAccountId,
    config: CONFIG,
    modules,
  };
  const server = startServer(options, stop);
  const url = `http://localhost:${port}`;
  const announce = async () => {
    await server.ready;
    const confirmed = await confirmDemo(url, persistTo, demo, stop);
    // The service was started for the earlier organization of the boards.
    console.log(banner(url, confirmed, confirmed.boardsAccountId === demo.boardsAccountId));
  };
  // The service is useful without its demo, so this failure only gets a line.
  announce().catch((error: unknown) => {
    if (!stop.aborted) console.error(`The organization is not usable: ${String(error)}`);
  });
  watchService(url, server, stop);
  const exitCode = await server.ended;
  stop.throwIfAborted();
  const how = exitCode === null ? "killed" : `exit code ${exitCode}`;
  throw new CommandError(`The service has ended unexpectedly (${how}).`);
}

function demoLine(url: string, hasDemo: boolean): string {
  if (process.env.ATRIUM_DEMO_ACCOUNT_ID === "") return "There is no demo: ATRIUM_DEMO_ACCOUNT_ID is empty";
  return hasDemo
    ? `The demo is at ${url}/demo: a board of your own, with a link for others`
    : "The demo will be available after the next start";
}

const banner = (url: string, { signIn, ...credentials }: Demo, hasDemo: boolean): string => `
Atrium is ready at ${url}, its documentation at ${url}/docs
${demoLine(url, hasDemo)}

Sign in to the dashboard at ${url}/dashboard

  Email       ${signIn.email}
  Password    ${signIn.password}

Use the REST API as its organization:

  Account ID  ${credentials.accountId}
  API key     ${credentials.apiKey}

Create a room:

curl -X POST ${url}/v1/accounts/${credentials.accountId}/rooms \\
  -H "Authorization: Bearer ${bearerOf(credentials)}" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"My first room"}'

Run a page on which people see each other's pointers, from ${url}/docs/quickstarts/cursors:

curl -fsS -u ${credentials.accountId}:${credentials.apiKey} ${url}/docs/quickstarts/cursors.tgz | tar xz
cd cursors && npm install && npm start

Ctrl-C stops it.
`;

await runCommand(main, { help: HELP, interruptedExitCode: 0 });
