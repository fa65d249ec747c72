/** `npm run account`: creates an organization with its first API key, moves it to another database, sets its quotas, ends the tokens of its users; links to a new password, exports and deletes persons. */
import path from "node:path";
import { parseArgs } from "node:util";
import { type Database, DEFAULT_PERSIST_TO } from "./database.ts";
import { bearerOf, createOrganization, isOrganizationName } from "./organization.ts";
import { moveOrganization } from "./organization-move.ts";
import { createPasswordLink } from "./password-link.ts";
import { deletePersonOf, exportPersonOf } from "./person-data.ts";
import { runCommand, UsageError } from "./process/command.ts";
import { parseLimits, type ShownQuota, setLimits } from "./quota-limits.ts";
import { endTokens } from "./token-ending.ts";

const USAGE = `Usage: npm run account -- create NAME [--in DB_2] [--persist-to DIR | --remote] [--json]
       npm run account -- limits ACCOUNT_ID [QUOTA=NUMBER|QUOTA=default …] [--persist-to DIR | --remote] [--json]
       npm run account -- end-tokens ACCOUNT_ID [--persist-to DIR | --remote] [--json]
       npm run account -- move ACCOUNT_ID --to DB_2 [--persist-to DIR | --remote] [--json]
       npm run account -- password-link EMAIL [--persist-to DIR | --remote] [--json]
       npm run account -- export-person EMAIL [--persist-to DIR | --remote]
       npm run account -- delete-person EMAIL [--persist-to DIR | --remote] [--json]`;
const HELP = `${USAGE}

  create         makes an organization, and prints its first API key, which is shown only once
  limits         shows the quotas of an organization, and sets those that are named
  end-tokens     ends the tokens of all users of an organization
  move           begins to move an organization to another database, and says how far it is; back cancels it
  password-link  makes a link by which a person who signs in with this address chooses a new password
  export-person  prints what is kept of the person who signs in with this address, one JSON object a line
  delete-person  deletes that person, who must not be the only owner of an organization

  --in DB_2         the database that a new organization is placed in; DB by default
  --to DB_2         the database that an organization is moved to
  --persist-to DIR  the state folder of the local service; .wrangler/state by default
  --remote          the database of the deployment instead
  --json            prints JSON, for scripts`;

const VERBS = [
  "create",
  "limits",
  "end-tokens",
  "move",
  "password-link",
  "export-person",
  "delete-person",
] as const;

interface Arguments {
  readonly verb: (typeof VERBS)[number];
  /** What follows the verb. */
  readonly subject: string;
  readonly rest: readonly string[];
  /** The binding of a database. */
  readonly place: string;
  readonly database: Database;
  readonly json: boolean;
}

function parseArguments(args: string[]): Arguments {
  const { values, positionals } = readFlags(args);
  const [name, subject, ...rest] = positionals;
  const verb = VERBS.find((candidate) => candidate === name);
  const remote = values.remote ?? false;
  const persistTo = values["persist-to"];
  if (verb === undefined || subject === undefined) throw new UsageError(USAGE);
  if (verb !== "limits" && rest.length > 0) throw new UsageError(USAGE);
  if (verb !== "create" && values.in !== undefined) throw new UsageError(USAGE);
  if ((verb === "move") !== (values.to !== undefined)) throw new UsageError(USAGE);
  if (persistTo === "" || (remote && persistTo !== undefined)) throw new UsageError(USAGE);
  const database: Database = remote
    ? { kind: "remote" }
    : { kind: "local", persistTo: path.resolve(persistTo ?? DEFAULT_PERSIST_TO) };
  return { verb, subject, rest, database, place: values.in ?? values.to ?? "DB", json: values.json ?? false };
}

function readFlags(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        "persist-to": { type: "string" },
        in: { type: "string" },
        to: { type: "string" },
        remote: { type: "boolean" },
        json: { type: "boolean" },
      },
    });
  } catch {
    throw new UsageError(USAGE);
  }
}

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
  `  ${quota.padEnd(12)}${String(used).padStart(16)} of ${limit ?? "the default"}`;

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
  "password-link": link,
  "export-person": exportOne,
  "delete-person": deleteOne,
};

async function main(stop: AbortSignal): Promise<void> {
  const args = parseArguments(process.argv.slice(2));
  await RUN[args.verb](args, stop);
}

await runCommand(main, { help: HELP, interruptedExitCode: 130 });
