/** `npm run account`: creates an organization with its first API key, moves it to another database, backs it up and restores it, sets its quotas, ends the tokens of its users; links to a new password, exports and deletes persons. */
import { type Arguments, HELP, parseArguments } from "./account-arguments.ts";
import { bearerOf, createOrganization, isOrganizationName } from "./organization.ts";
import { moveOrganization } from "./organization-move.ts";
import { createPasswordLink } from "./password-link.ts";
import { deletePersonOf, exportPersonOf } from "./person-data.ts";
import { runCommand, UsageError } from "./process/command.ts";
import { createPrivately } from "./process/folder.ts";
import { parseLimits, type ShownQuota, setLimits } from "./quota-limits.ts";
import { endTokens } from "./token-ending.ts";

async function create({ subject: name, database, place, json }: Arguments, stop: AbortSignal): Promise<void> {
  if (!isOrganizationName(name))
    throw new UsageError("NAME must have 1 to 255 characters, none of them NUL.");
  const credentials = await createOrganization(database, name, place, stop);
  if (json) {
    console.log(JSON.stringify(credentials));
    return;
  }
  console.log(`Created the organization ${JSON.stringify(name)}. Keep its API key: it is shown only once.

  Account ID  ${credentials.accountId}
  API key     ${credentials.apiKey}
  Header      Authorization: Bearer ${bearerOf(credentials)}
`);
}

const lineOf = ({ quota, used, limit }: ShownQuota): string =>
  `  ${quota.padEnd(19)}${String(used).padStart(16)} of ${limit ?? "the default"}`;

async function limits({ subject, rest, database, json }: Arguments, stop: AbortSignal): Promise<void> {
  const quotas = await setLimits(database, subject, parseLimits(rest), stop);
  console.log(json ? JSON.stringify(quotas) : quotas.map(lineOf).join("\n"));
}

async function end({ subject, database, json }: Arguments, stop: AbortSignal): Promise<void> {
  const rooms = await endTokens(database, subject, stop);
  const online = rooms === 1 ? "the room with users online" : `the ${rooms} rooms with users online`;
  console.log(
    json
      ? JSON.stringify({ rooms })
      : `Ended the tokens of all users.${rooms === 0 ? "" : ` The sockets of ${online} close within about a minute.`}`,
  );
}

async function link({ subject: email, database, json }: Arguments, stop: AbortSignal): Promise<void> {
  const path = await createPasswordLink(database, email, stop);
  console.log(
    json
      ? JSON.stringify({ path })
      : `Open this path at the address of the service, once and within an hour:\n\n  ${path}\n`,
  );
}

const PHASES: Readonly<Record<string, string>> = {
  copying: "It is being copied, and cannot be changed meanwhile.",
  comparing: "Its copy is being compared, and it cannot be changed meanwhile.",
  settling: "It can be changed again within half a minute.",
  removing: "What is not needed any more is being removed from the other database.",
  cancelled: "The move is being cancelled.",
};

async function move({ subject, database, place, json }: Arguments, stop: AbortSignal): Promise<void> {
  const { database: present, phase } = await moveOrganization(database, subject, place, stop);
  const further = phase === null ? "" : ` ${PHASES[phase]} Run this again to see how far it is.`;
  console.log(
    json ? JSON.stringify({ database: present, phase }) : `The organization is in ${present}.${further}`,
  );
}

async function exportOne({ subject: email, database }: Arguments, stop: AbortSignal): Promise<void> {
  for await (const record of exportPersonOf(database, email, stop)) console.log(JSON.stringify(record));
}

async function deleteOne({ subject: email, database, json }: Arguments, stop: AbortSignal): Promise<void> {
  await deletePersonOf(database, email, stop);
  console.log(
    json ? JSON.stringify({ deleted: email }) : `Deleted ${email}. Sessions end within 10 seconds.`,
  );
}

const RUN = {
  create,
  limits,
  "end-tokens": end,
  move,
  // Loaded when they are used: what the others need loads faster.
  backup: async (args: Arguments, stop: AbortSignal) =>
    args.all
      ? (await import("./deployment-archive.ts")).backUpAll(args, stop)
      : (await import("./organization-backup.ts")).backUp(args, stop),
  restore: async (args: Arguments, stop: AbortSignal) =>
    args.all
      ? (await import("./deployment-archive.ts")).restoreAll(args, stop)
      : (await import("./organization-backup.ts")).restore(args, stop),
  "password-link": link,
  "export-person": exportOne,
  "delete-person": deleteOne,
};

async function main(stop: AbortSignal): Promise<void> {
  const args = parseArguments(process.argv.slice(2));
  createPrivately();
  await RUN[args.verb](args, stop);
}

await runCommand(main, { help: HELP, interruptedExitCode: 130 });
