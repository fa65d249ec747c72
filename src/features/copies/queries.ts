/** Questions about scheduled copies. */
import { DAY_MS } from "@atrium/contract/time.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { selectLatestCopy } from "./store.ts";

const OVERDUE_MS = 2 * DAY_MS;

/** The problem of a deployment with COPY_TO when no copy was complete for two days; null otherwise. */
export async function findCopyProblem(directory: Database, now: number): Promise<string | null> {
  const [[latest]] = await directory.run([selectLatestCopy()]);
  return now - (latest?.at ?? now) <= OVERDUE_MS
    ? null
    : "No copy of the databases to COPY_TO was complete for two days. The service's log has the reason, once for each copy.";
}
