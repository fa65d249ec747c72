/** `node serve.ts FILE`: serves the Workers that FILE describes, tells its parent where the first one is, keeps house when told to, and waits to be killed. */
import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Served } from "./killable-service.ts";

process.once("disconnect", () => process.exit()); // whoever was to kill it is gone

process.on("message", async () => {
  await (await miniflare.getWorker(atrium.name)).scheduled({ cron: "* * * * *" });
  process.send?.("kept house");
});

const { workers, persistTo } = parseServed(await readFile(process.argv[2] ?? "", "utf8"));
const [atrium] = workers;
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [...workers],
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: persistTo,
  }),
);
await miniflare.ready;
process.send?.((await miniflare.unsafeGetDirectURL(atrium.name)).origin);

/** What the service wrote. */
function parseServed(json: string): Served {
  return JSON.parse(json) as Served;
}
