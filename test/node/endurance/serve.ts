/** `node serve.ts FILE`: serves the Workers that FILE describes, sends its parent the address of the first one, answers the parent's requests, and runs until it is killed. */
import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Served } from "./killable-service.ts";

/** A request of the parent process. One message answers it: the rows of a query, or `true`. */
export type Request = { readonly type: "scheduled" } | { readonly type: "query"; readonly sql: string };

/** Errors that the service logs when a test breaks off a request or kills the service during one. */
const BROKEN_OFF = /Network connection lost|disconnected:/;

process.once("disconnect", () => process.exit()); // the parent, which would have killed this process, has ended

process.on("message", async (request: Request) => {
  process.send?.(await answer(request));
});

async function answer(request: Request): Promise<unknown> {
  if (request.type === "query") {
    const database = await miniflare.getD1Database("DB", atrium.name);
    return (await database.prepare(request.sql).all()).results;
  }
  await (await miniflare.getWorker(atrium.name)).scheduled({ cron: "* * * * *" });
  return true;
}

const { workers, persistTo } = parseServed(await readFile(process.argv[2] ?? "", "utf8"));
const [atrium] = workers;
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [...workers],
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: persistTo,
    handleStructuredLogs: ({ level, message }) => {
      if (!BROKEN_OFF.test(message)) (level === "error" ? console.error : console.log)(message);
    },
  }),
);
await miniflare.ready;
process.send?.((await miniflare.unsafeGetDirectURL(atrium.name)).origin);

/** The options that `KillableService` wrote. */
function parseServed(json: string): Served {
  return JSON.parse(json) as Served;
}
