/** `npm run account -- backup` and `-- restore`. */
import path from "node:path";
import type { OperatorPurpose } from "../backup/table.ts";
import { upsertOperatorToken } from "../backup/token-store.ts";
import { ArchiveFolder } from "./archive/archive-folder.ts";
import { Backup } from "./archive/back-up.ts";
import { OperatorClient } from "./archive/operator-client.ts";
import { Restore } from "./archive/restore.ts";
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

const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const show = (line: string): void => console.error(line);

function clientOf(args: ArchiveArguments, accountId: string, purpose: OperatorPurpose, stop: AbortSignal) {
  const writeToken = async (hash: string, expiresAt: number) => {
    await databasePort(args.database, stop).run([upsertOperatorToken(accountId, purpose, hash, expiresAt)]);
  };
  return new OperatorClient({ accountId, purpose, url: urlOf(args), writeToken, stop, show });
}

/** Copies an organization to a folder. */
export async function backUp(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const { subject: accountId, rest, json } = args;
  const folder = new ArchiveFolder(path.resolve(rest[0] ?? ""));
  if (folder.isWhole)
    throw new CommandError(
      `${folder.path} is a complete backup already. Name a new folder: a backup overwrites nothing.`,
    );
  const client = clientOf(args, accountId, "backup", stop);
  await folder.make();
  const { slices, files } = await new Backup(client, folder, accountId, show).run();
  console.log(
    json
      ? JSON.stringify({ folder: folder.path, slices, files })
      : `Backed up the organization with ${files} files to ${folder.path}.
It holds what is in rooms, hashes of API keys and encrypted secrets: keep it where only you can read it, and JWT_SECRET
elsewhere: without that secret, it cannot be restored.`,
  );
}

/** Restores an organization from a folder, or gives that up. */
export const restore = (args: ArchiveArguments, stop: AbortSignal): Promise<void> =>
  args.cancel ? cancelRestore(args, stop) : restoreFrom(args, stop);

async function restoreFrom(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new ArchiveFolder(path.resolve(args.subject));
  const { id: accountId, name } = (await folder.readManifest()).manifest.organization;
  await new Restore(clientOf(args, accountId, "restore", stop), folder, show).run();
  console.log(
    args.json
      ? JSON.stringify({ accountId, cancelled: false })
      : `Restored the organization ${JSON.stringify(name)}. Members who did not exist in this service choose a password first:
npm run account -- password-link EMAIL makes a link for it.`,
  );
}

/** Of the organization in a folder, or of the one with this ID: the folder may be lost. */
async function cancelRestore(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new ArchiveFolder(path.resolve(args.subject));
  const isId = ACCOUNT_ID.test(args.subject) && !folder.isWhole;
  const accountId = isId ? args.subject : (await folder.readManifest()).manifest.organization.id;
  await clientOf(args, accountId, "restore", stop).data("cancel");
  console.log(
    args.json
      ? JSON.stringify({ accountId, cancelled: true })
      : "Cancelled. What was restored is deleted within minutes; then it can be restored again.",
  );
}
