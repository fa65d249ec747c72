/** `npm start`: `wrangler dev` with the secrets, the tables and a demo organization that it needs to be of use. */
import path from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand, UsageError } from "./command.ts";
import { DEFAULT_PERSIST_TO } from "./database.ts";
import { confirmDemo, type Demo, prepareDemo } from "./demo.ts";
import { bearerOf } from "./organization.ts";
import { ensureDevSecrets } from "./secrets.ts";
import { type DevServer, startDevServer } from "./service/dev-server.ts";
import { findPortProblem } from "./service/port.ts";
import { SILENCE_LIMIT_MS, watch } from "./service/watchdog.ts";

const DEFAULT_PORT = 8787;
const MAX_PORT = 65_535;
const USAGE = "Usage: npm start -- [--port 1-65535] [--persist-to DIR]";

function parseArguments(args: string[]): { port: number; persistTo: string } {
  const { port = String(DEFAULT_PORT), "persist-to": persistTo = DEFAULT_PERSIST_TO } = readFlags(args);
  const isPort = /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= MAX_PORT;
  if (!isPort || persistTo === "") throw new UsageError(USAGE);
  return { port: Number(port), persistTo: path.resolve(persistTo) };
}

function readFlags(args: string[]) {
  try {
    return parseArgs({ args, options: { port: { type: "string" }, "persist-to": { type: "string" } } })
      .values;
  } catch {
    throw new UsageError(USAGE);
  }
}

async function mustBeFree(port: number): Promise<void> {
  const problem = await findPortProblem(port);
  if (problem === null) return;
  if (problem === "EACCES") {
    throw new CommandError(
      `Port ${port} is for privileged processes: try npm start -- --port ${DEFAULT_PORT}`,
    );
  }
  const next = port < MAX_PORT ? port + 1 : DEFAULT_PORT;
  throw new CommandError(
    `Port ${port} is in use: end what listens there, or try npm start -- --port ${next}`,
  );
}

const banner = (url: string, { signIn, ...credentials }: Demo, hasDemo: boolean): string => `
Atrium is ready at ${url}, its documentation at ${url}/docs
${hasDemo ? `A demo of it is at ${url}/demo: open it in two windows` : "Its demo comes back with the next start"}

Sign in to the dashboard at ${url}/dashboard

  E-mail      ${signIn.email}
  Password    ${signIn.password}

or speak for its organization over REST:

  Account ID  ${credentials.accountId}
  API key     ${credentials.apiKey}

Create a room:

curl -X POST ${url}/v1/accounts/${credentials.accountId}/rooms \\
  -H "Authorization: Bearer ${bearerOf(credentials)}" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"My first room"}'

Ctrl-C stops it.
`;

/** What no guard within the service can stop is stopped from here, for as long as it runs. */
function keepAnswering(url: string, { ready, ended, groupId }: DevServer, stop: AbortSignal): void {
  const gone = new AbortController();
  const until = AbortSignal.any([stop, gone.signal]);
  const end = () => gone.abort();
  ended.then(end, end);
  const seconds = SILENCE_LIMIT_MS / 1000;
  const report = () =>
    console.error(
      `The service did not answer for ${seconds} s and is restarted: a workflow may have kept it busy.`,
    );
  const watching = ready.then(() => watch({ url, groupId, program: "workerd" }, report, until));
  watching.catch((error: unknown) => {
    if (!until.aborted) console.error(`Nobody watches whether the service answers: ${String(error)}`);
  });
}

async function main(stop: AbortSignal): Promise<void> {
  const { port, persistTo } = parseArguments(process.argv.slice(2));
  await mustBeFree(port);
  const added = await ensureDevSecrets();
  if (added.length > 0) console.log(`Added to .dev.vars for development: ${added.join(", ")}`);
  const demo = await prepareDemo(persistTo, stop);

  const server = startDevServer({ port, persistTo, demoAccountId: demo.accountId }, stop);
  const url = `http://localhost:${port}`;
  const announce = async () => {
    await server.ready;
    const confirmed = await confirmDemo(url, persistTo, demo, stop);
    // The service was started for the demo of the organization that it had until now.
    console.log(banner(url, confirmed, confirmed.accountId === demo.accountId));
  };
  // The service is of use without its demo, so this failure is said and no more.
  announce().catch((error: unknown) => {
    if (!stop.aborted) console.error(`The demo organization is not usable: ${String(error)}`);
  });
  keepAnswering(url, server, stop);
  const exitCode = await server.ended;
  stop.throwIfAborted();
  throw new CommandError(
    `The service has ended by itself (wrangler dev exited with ${exitCode ?? "a signal"}).`,
  );
}

await runCommand(main, { interruptedExitCode: 0 });
