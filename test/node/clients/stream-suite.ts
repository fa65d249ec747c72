/** The public suite of the Durable Streams protocol, which names streams as it likes and sends no credential. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import type { Service } from "../cli/service.ts";

/** The path of streams in the suite. */
const THEIRS = "/v1/stream/";

const CONNECTION_HEADERS: readonly string[] = ["host", "connection", "content-length", "transfer-encoding"];

/** Outside of `node_modules`, where vitest finds no tests. */
const RUNNER = "streams.test.js";
const SUITE = `import { runConformanceTests } from "@durable-streams/server-conformance-tests";
runConformanceTests({ baseUrl: process.env.CONFORMANCE_TEST_URL });
`;

/** The API of one room under the suite's paths. Waits where the service limits the rate of requests. */
function proxyTo({ url, accountId, bearer }: Service, roomId: string) {
  const ours = `/v1/accounts/${accountId}/rooms/${roomId}/streams/`;
  const pathOf = (theirs: string): string =>
    theirs.startsWith(THEIRS)
      ? ours + encodeURIComponent(decodeURIComponent(theirs.slice(THEIRS.length)))
      : theirs;
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { pathname, search, host } = new URL(incoming.url ?? "/", `http://${incoming.headers.host}`);
    const sent = await buffer(incoming);
    const left = new AbortController();
    outgoing.once("close", () => left.abort());
    const ask = async (): Promise<Response> => {
      const response = await fetch(`${url}${pathOf(pathname)}${search}`, {
        method: incoming.method ?? "GET",
        headers: headersOf(incoming, pathOf, bearer),
        body: sent.length === 0 ? null : sent,
        signal: left.signal,
      });
      if (response.status !== 429) return response;
      await response.body?.cancel();
      await setTimeout(1_000 * Number(response.headers.get("Retry-After")));
      return ask();
    };
    const response = await ask();
    const headers = Object.fromEntries(response.headers);
    if (headers.location !== undefined) headers.location = `http://${host}${pathname}`;
    outgoing.writeHead(response.status, headers);
    if (response.body === null) outgoing.end();
    else await pipeline(response.body, outgoing);
  };
  return createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch(() => outgoing.destroy()); // the suite leaves live reads
  });
}

function headersOf(incoming: IncomingMessage, pathOf: (theirs: string) => string, bearer: string): Headers {
  const headers = new Headers({ Authorization: `Bearer ${bearer}` });
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === "string" && !CONNECTION_HEADERS.includes(name)) headers.set(name, value);
  const source = headers.get("Stream-Forked-From");
  if (source !== null) headers.set("Stream-Forked-From", pathOf(source));
  return headers;
}

export interface SuiteResult {
  readonly passed: number;
  readonly failed: readonly string[];
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs the suite that is installed in `folder` against a new room. */
export async function runStreamSuite(service: Service, folder: string): Promise<SuiteResult> {
  const created = await fetch(`${service.url}/v1/accounts/${service.accountId}/rooms`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.bearer}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Streams" }),
  });
  const { data } = (await created.json()) as { data: { room: { id: string } } };
  const proxy = proxyTo(service, data.room.id);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  try {
    const json = await output(path.join(folder, "node_modules/.bin/vitest"), folder, {
      ...process.env,
      CONFORMANCE_TEST_URL: `http://127.0.0.1:${port}`,
    });
    const { numPassedTests, testResults } = JSON.parse(json.slice(json.indexOf("{"))) as Report;
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
    return { passed: numPassedTests, failed };
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

async function output(vitest: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  await writeFile(path.join(cwd, RUNNER), SUITE);
  const child = spawn(vitest, ["run", RUNNER, "--reporter=json", "--testTimeout=60000"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await new Promise((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  return printed;
}
