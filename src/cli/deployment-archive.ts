/** `npm run account -- backup --all` and `-- restore --all`: a deployment with all of its organizations. */
import { DEPLOYMENT } from "../features/backup/format.ts";
import type { OperatorPurpose } from "../features/backup/table.ts";
import { DeploymentBackup } from "./archive/deployment-backup.ts";
import { DeploymentFolder } from "./archive/deployment-folder.ts";
import { DeploymentRestore } from "./archive/deployment-restore.ts";
import type { Failure } from "./archive/each-organization.ts";
import type { ClientOf } from "./archive/operator-client.ts";
import { type ArchiveArguments, folderPath, operatorAccess, show } from "./operator-access.ts";
import { CommandError } from "./process/command.ts";

const accessOf = (args: ArchiveArguments, purpose: OperatorPurpose, stop: AbortSignal): ClientOf =>
  operatorAccess(args, DEPLOYMENT, purpose, stop);

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
const organizations = (count: number): string => counted(count, "organization", "organizations");
const people = (count: number): string => counted(count, "person", "people");

const lineOf = ({ id, name }: Omit<Failure, "why">): string => `  ${JSON.stringify(name)} (${id})`;

/** Names what failed, which the exit code says, too. */
function requireNone(failures: readonly Failure[], what: string, next: string): void {
  if (failures.length === 0) return;
  const lines = failures.map((failure) => `${lineOf(failure)}: ${failure.why}`);
  throw new CommandError(
    `${organizations(failures.length)} could not be ${what}:\n${lines.join("\n")}\n${next}`,
  );
}

/** Copies the deployment to a folder. */
export async function backUpAll(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new DeploymentFolder(folderPath(args.subject));
  if (folder.shared.isWhole)
    throw new CommandError(
      `${folder.path} is a complete backup already. Name a new folder: a backup overwrites nothing.`,
    );
  const done = await new DeploymentBackup(accessOf(args, "backup", stop), folder, show).run();
  const { failures, copied, earlier } = done;
  if (args.json) console.log(JSON.stringify({ folder: folder.path, ...done }));
  requireNone(
    failures,
    "backed up",
    `The other ${copied + earlier} are in ${folder.path}. Run this again: it copies those that are missing, and then the people.`,
  );
  if (args.json) return;
  console.log(`Backed up ${organizations(copied + earlier)} and ${people(done.people)} to ${folder.path}.
It holds what is in rooms, hashes of API keys and encrypted secrets: keep it where only you can read it, and JWT_SECRET
elsewhere: without that secret, it cannot be restored.`);
}

/** Restores a deployment from a folder, or gives up what is being restored of it. */
export const restoreAll = (args: ArchiveArguments, stop: AbortSignal): Promise<void> =>
  args.cancel ? cancelAll(args, stop) : restoreFrom(args, stop);

async function restoreFrom(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new DeploymentFolder(folderPath(args.subject));
  const done = await new DeploymentRestore(accessOf(args, "restore", stop), folder, show).run();
  const { failures, restored, existing } = done;
  console.log(
    args.json
      ? JSON.stringify(done)
      : [
          `Restored ${organizations(restored)}, and added ${people(done.people)}.`,
          ...(existing.length === 0
            ? []
            : [
                `${organizations(existing.length)} existed, and stayed as they were:`,
                ...existing.map(lineOf),
              ]),
        ].join("\n"),
  );
  requireNone(failures, "restored", "Run this again: it continues with these.");
}

async function cancelAll(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new DeploymentFolder(folderPath(args.subject));
  const { cancelled, failures } = await new DeploymentRestore(
    accessOf(args, "restore", stop),
    folder,
    show,
  ).cancel();
  console.log(
    args.json
      ? JSON.stringify({ cancelled, failures })
      : `Cancelled the restores of ${organizations(cancelled)}. What was restored of them is deleted within minutes.`,
  );
  requireNone(failures, "cancelled", "Run this again.");
}
