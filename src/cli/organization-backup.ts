/** `npm run account -- backup` and `-- restore`. */
import { ArchiveFolder } from "./archive/archive-folder.ts";
import { Backup } from "./archive/back-up.ts";
import { DeploymentFolder } from "./archive/deployment-folder.ts";
import { Restore } from "./archive/restore.ts";
import { type ArchiveArguments, folderPath, operatorAccess, show } from "./operator-access.ts";
import { CommandError } from "./process/command.ts";

const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Copies an organization to a folder. */
export async function backUp(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const { subject: accountId, rest, json } = args;
  const folder = new ArchiveFolder(folderPath(rest[0]));
  if (folder.isWhole || new DeploymentFolder(folder.path).shared.isWhole)
    throw new CommandError(
      `${folder.path} is a complete backup already. Name a new folder: a backup overwrites nothing.`,
    );
  const client = operatorAccess(args, accountId, "backup", stop)(accountId, show);
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
  const folder = new ArchiveFolder(folderPath(args.subject));
  if (new DeploymentFolder(folder.path).shared.isWhole)
    throw new CommandError(
      `${folder.path} is a backup of a deployment. Add --all, or name one of the folders in ${folder.path}/organizations.`,
    );
  const { id: accountId, name } = (await folder.readManifest()).manifest.organization;
  const client = operatorAccess(args, accountId, "restore", stop)(accountId, show);
  await new Restore(client, folder, show).run();
  console.log(
    args.json
      ? JSON.stringify({ accountId, cancelled: false })
      : `Restored the organization ${JSON.stringify(name)}. Members who did not exist in this service choose a password first:
npm run account -- password-link EMAIL makes a link for it.`,
  );
}

/** Of the organization in a folder, or of the one with this ID: the folder may be lost. */
async function cancelRestore(args: ArchiveArguments, stop: AbortSignal): Promise<void> {
  const folder = new ArchiveFolder(folderPath(args.subject));
  const isId = ACCOUNT_ID.test(args.subject) && !folder.isWhole;
  const accountId = isId ? args.subject : (await folder.readManifest()).manifest.organization.id;
  await operatorAccess(args, accountId, "restore", stop)(accountId, show).data("cancel");
  console.log(
    args.json
      ? JSON.stringify({ accountId, cancelled: true })
      : "Cancelled. What was restored is deleted within minutes; then it can be restored again.",
  );
}
