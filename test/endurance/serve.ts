/** `node serve.ts FILE`: serves the Worker that FILE describes, tells its parent where, keeps house when told to, and waits to be killed. */
import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Served } from "./killable-service.ts";

process.once("disconnect", () => process.exit()); // whoever was to kill it is gone

process.on("message", async () => {
  await (await miniflare.getWorker(worker.name)).scheduled({ cron: "* * * * *" });
  process.send?.("kept house");
});

const { worker, persistTo } = parseServed(await readFile(process.argv[2] ?? "", "utf8"));
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [worker],
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: persistTo,
  }),
);
await miniflare.ready;
process.send?.((await miniflare.unsafeGetDirectURL(worker.name)).origin);

/** What the service wrote. */
function parseServed(json: string): Served {
  return JSON.parse(json) as Served;
}
