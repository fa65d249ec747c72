/** How the commands of backups and restores reach the service as its operator. */
import path from "node:path";
import type { OperatorPurpose } from "../features/backup/table.ts";
import { upsertOperatorToken } from "../features/backup/token-store.ts";
import { OperatorClient } from "./archive/operator-client.ts";
import { OperatorToken } from "./archive/operator-token.ts";
import { type Database, databasePort } from "./database.ts";
import { CommandError } from "./process/command.ts";

/** Where `npm start` listens without options. */
const LOCAL_URL = "http://localhost:8787";

export interface ArchiveArguments {
  readonly subject: string;
  readonly rest: readonly string[];
  readonly database: Database;
  readonly url: string | undefined;
  readonly cancel: boolean;
  readonly json: boolean;
}

function urlOf({ url, database }: ArchiveArguments): string {
  if (url === undefined && database.kind === "remote")
    throw new CommandError("Name the address of the deployment by --url, such as https://atrium.example.", 2);
  if (url !== undefined && !URL.canParse(url))
    throw new CommandError("--url must be an address such as https://atrium.example.", 2);
  return url ?? LOCAL_URL;
}

/** Progress, and what is waited for: on stderr, beside the result. */
export const show = (line: string): void => console.error(line);

/** Makes clients with one token, which is for an organization, or for all with `DEPLOYMENT` as the scope. */
export function operatorAccess(
  args: ArchiveArguments,
  scope: string,
  purpose: OperatorPurpose,
  stop: AbortSignal,
): (accountId: string, show: (line: string) => void) => OperatorClient {
  const url = urlOf(args);
  const token = new OperatorToken(async (hash, expiresAt) => {
    await databasePort(args.database, stop).run([upsertOperatorToken(scope, purpose, hash, expiresAt)]);
  });
  return (accountId, show) => new OperatorClient({ accountId, purpose, url, token, stop, show });
}

/** What a word of the command line names. */
export const folderPath = (word: string | undefined): string => path.resolve(word ?? "");
