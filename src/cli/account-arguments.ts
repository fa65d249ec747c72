/** The command line of `npm run account`. */
import path from "node:path";
import { parseArgs } from "node:util";
import { type Database, DEFAULT_PERSIST_TO } from "./database.ts";
import { UsageError } from "./process/command.ts";

export const USAGE = `Usage: npm run account -- create NAME [--in DB_2] [--persist-to DIR | --remote] [--json]
       npm run account -- limits ACCOUNT_ID [QUOTA=NUMBER|QUOTA=default …] [--persist-to DIR | --remote] [--json]
       npm run account -- end-tokens ACCOUNT_ID [--persist-to DIR | --remote] [--json]
       npm run account -- move ACCOUNT_ID --to DB_2 [--persist-to DIR | --remote] [--json]
       npm run account -- backup ACCOUNT_ID FOLDER [--url URL] [--persist-to DIR | --remote] [--json]
       npm run account -- restore FOLDER [--url URL] [--persist-to DIR | --remote] [--json]
       npm run account -- restore FOLDER|ACCOUNT_ID --cancel [--url URL] [--persist-to DIR | --remote] [--json]
       npm run account -- backup --all FOLDER [--url URL] [--persist-to DIR | --remote] [--json]
       npm run account -- restore --all FOLDER [--cancel] [--url URL] [--persist-to DIR | --remote] [--json]
       npm run account -- password-link EMAIL [--persist-to DIR | --remote] [--json]
       npm run account -- export-person EMAIL [--persist-to DIR | --remote]
       npm run account -- delete-person EMAIL [--persist-to DIR | --remote] [--json]`;
export const HELP = `${USAGE}

  create         makes an organization, and prints its first API key, which is shown only once
  limits         shows the quotas of an organization, and sets those that are named
  end-tokens     ends the tokens of all users of an organization
  move           begins to move an organization to another database, and says how far it is; moving it back cancels that
  backup         copies an organization, which stays in use, to a new folder; run again, it continues
  restore        brings a deleted organization back from a backup; run again, it continues
  password-link  makes a link by which a person who signs in with this address chooses a new password
  export-person  prints what is kept of the person who signs in with this address, one JSON object a line
  delete-person  deletes that person, who must not be the only owner of an organization

  --in DB_2         the database that a new organization is placed in; DB by default
  --to DB_2         the database that an organization is moved to
  --url URL         where the service of a backup or restore is; http://localhost:8787 by default
  --cancel          gives up a restore that is not complete, and deletes what it has restored
  --all             backs up or restores all organizations of the service, and its people
  --persist-to DIR  the state folder of the local service; .wrangler/state by default
  --remote          the database of the deployment instead
  --json            prints JSON, for scripts`;

const VERBS = [
  "create",
  "limits",
  "end-tokens",
  "move",
  "backup",
  "restore",
  "password-link",
  "export-person",
  "delete-person",
] as const;

export interface Arguments {
  readonly verb: (typeof VERBS)[number];
  /** What follows the verb. */
  readonly subject: string;
  readonly rest: readonly string[];
  /** The binding of a database. */
  readonly place: string;
  readonly database: Database;
  readonly url: string | undefined;
  readonly cancel: boolean;
  /** The whole deployment, not one organization. */
  readonly all: boolean;
  readonly json: boolean;
}

/** How many words follow the subject of a verb; of all others, none. */
const REST: Readonly<Record<string, (count: number, all: boolean) => boolean>> = {
  limits: () => true,
  backup: (count, all) => count === (all ? 0 : 1),
};

export function parseArguments(args: string[]): Arguments {
  const { values, positionals } = readFlags(args);
  const [name, subject, ...rest] = positionals;
  const verb = VERBS.find((candidate) => candidate === name);
  const { remote = false, all = false, cancel = false, json = false, url } = values;
  const persistTo = values["persist-to"];
  if (verb === undefined || subject === undefined) throw new UsageError(USAGE);
  // An empty name is refused as other names are.
  if (subject === "" && verb !== "create") throw new UsageError(USAGE);
  if (!(REST[verb] ?? ((count) => count === 0))(rest.length, all)) throw new UsageError(USAGE);
  if (verb !== "create" && values.in !== undefined) throw new UsageError(USAGE);
  if ((verb === "move") !== (values.to !== undefined)) throw new UsageError(USAGE);
  const isArchiving = verb === "backup" || verb === "restore";
  if ((cancel && verb !== "restore") || ((all || url !== undefined) && !isArchiving))
    throw new UsageError(USAGE);
  if (persistTo === "" || (remote && persistTo !== undefined)) throw new UsageError(USAGE);
  const database: Database = remote
    ? { kind: "remote" }
    : { kind: "local", persistTo: path.resolve(persistTo ?? DEFAULT_PERSIST_TO) };
  return { verb, subject, rest, database, place: values.in ?? values.to ?? "DB", url, all, cancel, json };
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
        url: { type: "string" },
        all: { type: "boolean" },
        cancel: { type: "boolean" },
        remote: { type: "boolean" },
        json: { type: "boolean" },
      },
    });
  } catch {
    throw new UsageError(USAGE);
  }
}
