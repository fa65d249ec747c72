/** `node local-database.ts`: runs the statements that its parent sends, all or none, on a D1 database of this machine. */
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { LocalAnswer, LocalRequest } from "./database.ts";

const BINDING = "DB";
const MAX_ATTEMPTS = 5;

/** Local processes that write at the same moment do not wait for each other: one fails, sometimes without saying why. */
const BUSY = /SQLITE_BUSY|internal error; reference/;

async function answer({ persistTo, id, statements }: LocalRequest): Promise<LocalAnswer> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [{ modules: true, script: "", d1Databases: { [BINDING]: id } }],
      resourcePersistencePath: path.join(persistTo, "v3"),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const d1 = await miniflare.getD1Database(BINDING);
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await d1.batch(statements.map((sql) => d1.prepare(sql)));
        return { rows: results.map(({ results }) => results) as LocalAnswer["rows"] };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (attempt === MAX_ATTEMPTS || !BUSY.test(reason)) return { rows: [], reason };
      }
    }
  } finally {
    await miniflare.dispose();
  }
}

process.once("message", async (request: LocalRequest) => {
  process.send?.(await answer(request), undefined, undefined, () => process.disconnect());
});
