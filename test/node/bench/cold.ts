/** The cold bench: the first request to a service that was started anew, beside a bare Worker. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundleCurrentWorker } from "../../../src/cli/bundle/worker-bundle.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { CONFIG } from "../../../src/cli/process/wrangler.ts";
import { startServer, type WorkerModules } from "../../../src/cli/service/server.ts";
import { findFreePort, processTree } from "../cli/processes.ts";
import { type Service, startService } from "../cli/service.ts";
import { processorSeconds } from "./gauge.ts";
import { callerOf, join, percentile } from "./live.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { count, table } from "./table.ts";

const HOST = "127.0.0.1";

/** A Worker, and the request that is its first. */
interface Subject {
  readonly name: string;
  readonly modules: WorkerModules;
  /** The state folder. */
  readonly persistTo: string;
  request(origin: string): Promise<unknown>;
}

/** Milliseconds: processor time of workerd until it is ready and for the request, and the request's wall time. */
interface First {
  readonly start: number;
  readonly request: number;
  readonly wall: number;
}

export const bench: Bench = { parts: [], run };

async function run({ runs, stop, progress }: BenchOptions): Promise<BenchReport> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-cold-"));
  try {
    const subjects = [await bareWorker(folder), ...(await requestsOf(path.join(folder, "state"), stop))];
    const firsts = new Map<string, First[]>(subjects.map(({ name }) => [name, []]));
    for (let each = 0; each < runs; each += 1) {
      progress(`run ${each + 1} of ${runs}`);
      for (const subject of subjects) firsts.get(subject.name)?.push(await first(subject, stop));
    }
    return { markdown: present(firsts), raw: Object.fromEntries(firsts) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The floor: a Worker that answers `ok`, with an empty class for each object of wrangler.toml. */
async function bareWorker(folder: string): Promise<Subject> {
  const settings = await readFile(CONFIG, "utf8");
  const classes = new Set([...settings.matchAll(/class_name = "(\w+)"/g)].map(([, name = ""]) => name));
  const file = path.join(folder, "bare.js");
  await writeFile(
    file,
    `import { DurableObject } from "cloudflare:workers";
${[...classes].map((name) => `export class ${name} extends DurableObject {}`).join("\n")}
export default { fetch: () => new Response("ok") };`,
  );
  const modules = { modules: [{ type: "ESModule" as const, path: file }], modulesRoot: folder };
  const persistTo = path.join(folder, "bare-state");
  await mkdir(persistTo);
  return { name: "a bare Worker", modules, persistTo, request: (origin) => get(`${origin}/`) };
}

/** The measured requests, of a room and a user in the state folder. */
async function requestsOf(persistTo: string, stop: AbortSignal): Promise<Subject[]> {
  const service = await startService({ persistTo });
  try {
    const organization = organizationOf(service);
    const call = callerOf(service.url, organization);
    const { room } = await call<{ room: { id: string } }>("POST", "/rooms", { name: "Cold" });
    const { token } = await call<{ token: string }>("POST", "/users", { name: "First", roomId: room.id });
    const modules = await bundleCurrentWorker(stop);
    return [
      { name: "`GET /health`", modules, persistTo, request: (origin) => get(`${origin}/health`) },
      {
        name: "`GET /rooms/:roomId`",
        modules,
        persistTo,
        request: (origin) => callerOf(origin, organization)("GET", `/rooms/${room.id}`),
      },
      {
        name: "a socket's join",
        modules,
        persistTo,
        request: async (origin) =>
          (await join(origin, organization, `rooms/${room.id}/socket`, token)).socket.terminate(),
      },
    ];
  } finally {
    await service.stop();
  }
}

const organizationOf = ({ accountId, bearer }: Service) => ({
  accountId,
  headers: { Authorization: `Bearer ${bearer}` },
});

async function get(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
  if (!response.ok) throw new CommandError(`GET ${url} answered ${response.status}`);
}

/** Starts the service anew, as `npm start` does, and measures its first request. */
async function first({ modules, persistTo, request }: Subject, stop: AbortSignal): Promise<First> {
  const ending = new AbortController();
  const port = await findFreePort();
  const options = {
    port,
    host: HOST,
    persistTo,
    demoAccountId: "",
    config: CONFIG,
    tarball: path.join(persistTo, "atrium.tgz"),
    modules,
  };
  const server = startServer(options, AbortSignal.any([stop, ending.signal]));
  try {
    await server.ready;
    const workerds = processTree(server.groupId).filter(({ command }) => /\/workerd /.test(command));
    const used = () =>
      1000 * workerds.reduce((sum, { pid }) => sum + (processorSeconds(pid) ?? Number.NaN), 0);
    const [start, startedAt] = [used(), performance.now()];
    await request(`http://${HOST}:${port}`);
    return { start, wall: performance.now() - startedAt, request: used() - start };
  } finally {
    ending.abort();
    await server.ended;
  }
}

function present(firsts: ReadonlyMap<string, readonly First[]>): string {
  const median = (all: readonly First[], figure: keyof First) =>
    count(
      percentile(
        all.map((one) => one[figure]),
        0.5,
      ),
    );
  return table(
    ["First request, ms", "processor time: start", "the request", "wall time of the request"],
    [...firsts].map(([name, all]) => [
      name,
      median(all, "start"),
      median(all, "request"),
      median(all, "wall"),
    ]),
  );
}
