/** `npm run account -- create NAME`: creates an organization and its first API key. */
import path from "node:path";
import { parseArgs } from "node:util";
import { type Database, DEFAULT_PERSIST_TO } from "./database.ts";
import { bearerOf, createOrganization, isOrganizationName } from "./organization.ts";
import { runCommand, UsageError } from "./process/command.ts";

const USAGE = "Usage: npm run account -- create NAME [--persist-to DIR | --remote] [--json]";

interface Arguments {
  readonly name: string;
  readonly database: Database;
  readonly json: boolean;
}

function parseArguments(args: string[]): Arguments {
  const { values, positionals } = readFlags(args);
  const [verb, name, ...rest] = positionals;
  const remote = values.remote ?? false;
  const persistTo = values["persist-to"];
  if (verb !== "create" || name === undefined || rest.length > 0) throw new UsageError(USAGE);
  if (persistTo === "" || (remote && persistTo !== undefined)) throw new UsageError(USAGE);
  if (!isOrganizationName(name))
    throw new UsageError("NAME must have 1 to 255 characters, none of them NUL.");
  const database: Database = remote
    ? { kind: "remote" }
    : { kind: "local", persistTo: path.resolve(persistTo ?? DEFAULT_PERSIST_TO) };
  return { name, database, json: values.json ?? false };
}

function readFlags(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        "persist-to": { type: "string" },
        remote: { type: "boolean" },
        json: { type: "boolean" },
      },
    });
  } catch {
    throw new UsageError(USAGE);
  }
}

async function main(stop: AbortSignal): Promise<void> {
  const { name, database, json } = parseArguments(process.argv.slice(2));
  const credentials = await createOrganization(database, name, stop);
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

await runCommand(main, { interruptedExitCode: 130 });
