/** A service whose boards a test can read and change over the REST API: they are in the organization of its API key. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Service, startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";

/** Starts it with the demo in the developer's organization, where `npm start` keeps one apart. */
export async function startBoards(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  const prepared = await preparedState();
  const { accountId } = JSON.parse(await readFile(path.join(prepared, "demo.json"), "utf8"));
  return startService({
    preparedState: prepared,
    settings: { ATRIUM_DEMO_ACCOUNT_ID: accountId, ...settings },
  });
}
