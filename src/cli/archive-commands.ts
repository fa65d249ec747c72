/** The commands `backup` and `restore` of `npm run account`, for one organization or with `--all` for a deployment. */
import path from "node:path";
import { DEPLOYMENT } from "../features/backup/format.ts";
import { upsertOperatorToken } from "../features/backup/statements.ts";
import type { OperatorPurpose } from "../features/backup/table.ts";
import { ArchiveFolder } from "./archive/archive-folder.ts";
import { Backup } from "./archive/back-up.ts";
import { DeploymentBackup } from "./archive/deployment-backup.ts";
import { DeploymentFolder, type Failure } from "./archive/deployment-folder.ts";
import { DeploymentRestore } from "./archive/deployment-restore.ts";
import { type ClientOf, OperatorClient, operatorToken } from "./archive/operator-client.ts";
import { Restore } from "./archive/restore.ts";
import { type Database, databasePort } from "./database.ts";
import { CommandError } from "./process/command.ts";

interface Arguments {
  readonly subject: string;
  readonly operands: readonly string[];
  readonly database: Database;
  readonly url: string | undefined;
  readonly cancel: boolean;
}

/** The outcome of a command: as JSON, and as text for people. */
export interface Outcome {
  readonly result: object | null;
  readonly text: string | null;
  readonly failure?: CommandError | undefined;
}

/** The default address of `npm start`. */
const LOCAL_URL = "http://localhost:8787";
const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Progress goes to stderr, beside the result. */
const show = (line: string): void => console.error(line);

const folderPath = (word: string | undefined): string => path.resolve(word ?? "");

/** Makes clients with one token, which is for an organization, or for all with `DEPLOYMENT` as the scope. */
function access(
  { url, database }: Arguments,
  scope: string,
  purpose: OperatorPurpose,
  stop: AbortSignal,
): ClientOf {
  if (url === undefined && database.kind === "remote")
    throw new CommandError("Name the address of the deployment by --url, such as https://atrium.example.", 2);
  if (url !== undefined && !URL.canParse(url))
    throw new CommandError("--url must be an address such as https://atrium.example.", 2);
  const token = operatorToken(async (hash, expiresAt) => {
    await databasePort(database, stop).run([upsertOperatorToken(scope, purpose, hash, expiresAt)]);
  });
  return (accountId, show) =>
    new OperatorClient({ accountId, purpose, url: url ?? LOCAL_URL, token, stop, show });
}

function requireIncomplete(folder: string): void {
  if (new ArchiveFolder(folder).isWhole || new DeploymentFolder(folder).shared.isWhole)
    throw new CommandError(
      `${folder} is a complete backup already. Name a new folder: a backup overwrites nothing.`,
    );
}

const SECRECY = `It holds the content of rooms, hashes of API keys and encrypted secrets: keep it private, and JWT_SECRET elsewhere.
Without that secret, it cannot be restored.`;

export async function backUp(args: Arguments, stop: AbortSignal): Promise<Outcome> {
  const { subject: accountId, operands } = args;
  const folder = new ArchiveFolder(folderPath(operands[0]));
  requireIncomplete(folder.path);
  const client = access(args, accountId, "backup", stop)(accountId, show);
  await folder.make();
  const { slices, files } = await new Backup(client, folder, accountId, show).run();
  const text = `Backed up the organization with ${files} files to ${folder.path}.\n${SECRECY}`;
  return { result: { folder: folder.path, slices, files }, text };
}

export const restore = (args: Arguments, stop: AbortSignal): Promise<Outcome> =>
  args.cancel ? cancelRestore(args, stop) : restoreFrom(args, stop);

async function restoreFrom(args: Arguments, stop: AbortSignal): Promise<Outcome> {
  const folder = new ArchiveFolder(folderPath(args.subject));
  if (new DeploymentFolder(folder.path).shared.isWhole)
    throw new CommandError(
      `${folder.path} is a backup of a deployment. Add --all, or name one of the folders in ${folder.path}/organizations.`,
    );
  const { id: accountId, name } = (await folder.readManifest()).manifest.organization;
  const client = access(args, accountId, "restore", stop)(accountId, show);
  await new Restore(client, folder, show).run();
  const text = `Restored the organization ${JSON.stringify(name)}. Members who did not exist in this service choose a password first:
npm run account -- password-link EMAIL makes a link for it.`;
  return { result: { accountId, cancelled: false }, text };
}

/** The subject is a folder or, if that is lost, the organization's ID. */
async function cancelRestore(args: Arguments, stop: AbortSignal): Promise<Outcome> {
  const folder = new ArchiveFolder(folderPath(args.subject));
  const isId = ACCOUNT_ID.test(args.subject) && !folder.isWhole;
  const accountId = isId ? args.subject : (await folder.readManifest()).manifest.organization.id;
  await access(args, accountId, "restore", stop)(accountId, show).data("cancel");
  const text = "Cancelled. The restored data is deleted within minutes; then it can be restored again.";
  return { result: { accountId, cancelled: true }, text };
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
const organizations = (count: number): string => counted(count, "organization", "organizations");
const people = (count: number): string => counted(count, "person", "people");

const lineOf = ({ id, name }: Omit<Failure, "why">): string => `  ${JSON.stringify(name)} (${id})`;

/** Names the failures, which the exit code reports, too. */
function failureOf(failures: readonly Failure[], done: string, next: string): CommandError | undefined {
  if (failures.length === 0) return undefined;
  const lines = failures.map((failure) => `${lineOf(failure)}: ${failure.why}`);
  return new CommandError(
    `${organizations(failures.length)} could not be ${done}:\n${lines.join("\n")}\n${next}`,
  );
}

export async function backUpAll(args: Arguments, stop: AbortSignal): Promise<Outcome> {
  const folder = new DeploymentFolder(folderPath(args.subject));
  if (folder.shared.isWhole) requireIncomplete(folder.path);
  const done = await new DeploymentBackup(access(args, DEPLOYMENT, "backup", stop), folder, show).run();
  const copied = done.copied + done.earlier;
  const failure = failureOf(
    done.failures,
    "backed up",
    `The other ${copied} are in ${folder.path}. Run this again: it copies the missing ones, and then the people.`,
  );
  const text = `Backed up ${organizations(copied)} and ${people(done.people)} to ${folder.path}.\n${SECRECY}`;
  return { result: { folder: folder.path, ...done }, text: failure ? null : text, failure };
}

export async function restoreAll(args: Arguments, stop: AbortSignal): Promise<Outcome> {
  const folder = new DeploymentFolder(folderPath(args.subject));
  const restoring = new DeploymentRestore(access(args, DEPLOYMENT, "restore", stop), folder, show);
  if (args.cancel) {
    const result = await restoring.cancel();
    const text = `Cancelled the restores of ${organizations(result.cancelled)}. Their data is deleted within minutes.`;
    return { result, text, failure: failureOf(result.failures, "cancelled", "Run this again.") };
  }
  const result = await restoring.run();
  const lines = [`Restored ${organizations(result.restored)}, and added ${people(result.people)}.`];
  if (result.existing.length > 0)
    lines.push(
      `${organizations(result.existing.length)} existed, and stayed as they were:`,
      ...result.existing.map(lineOf),
    );
  const failure = failureOf(result.failures, "restored", "Run this again: it continues with these.");
  return { result, text: lines.join("\n"), failure };
}
