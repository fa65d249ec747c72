/** `npm run backup`: copies everything that the service on this machine stores, while it runs. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { copyState } from "./archive/copy-state.ts";
import { type Database, DEFAULT_PERSIST_TO, isNew, listBindings } from "./database.ts";
import { exportDatabase } from "./database-export.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { createPrivately, makeWritableFolder, readIfThere, writePrivateFile } from "./process/folder.ts";
import { SECRETS_FILE } from "./secrets.ts";
import { isStateFolder } from "./service/reservation.ts";

const USAGE = "Usage: npm run backup -- DIR [--sql] [--persist-to DIR | --remote]";
const HELP = `${USAGE}

Copies everything that the service on this machine stores to the new folder DIR, while it runs or not.
To restore it, copy .dev.vars from DIR to the checkout, and run: npm start -- --persist-to DIR

  --persist-to DIR  the state folder of the service; .wrangler/state by default
  --sql             exports the databases alone, each as a file of SQL that D1 imports, such as DIR/DB.sql
  --remote          with --sql: the databases of the deployment, which answer nothing else meanwhile

A deployment on Cloudflare is restored otherwise: docs/guides/backups.md.`;

const PROGRESS_EVERY = 1_000;

interface Arguments {
  readonly target: string;
  readonly persistTo: string;
  /** The databases that are exported as SQL; null for a copy of the state folder. */
  readonly sqlOf: Database["kind"] | null;
}

function parseArguments(args: string[]): Arguments {
  const flags = {
    "persist-to": { type: "string" },
    sql: { type: "boolean" },
    remote: { type: "boolean" },
  } as const;
  const { values, positionals } = readFlags(USAGE, args, flags);
  const [target = "", ...others] = positionals;
  const { "persist-to": persistTo = DEFAULT_PERSIST_TO, sql = false, remote = false } = values;
  const isContradiction = remote && (!sql || values["persist-to"] !== undefined);
  if (target === "" || persistTo === "" || others.length > 0 || isContradiction) throw new UsageError(USAGE);
  const sqlOf = sql ? (remote ? "remote" : "local") : null;
  return { target: path.resolve(target), persistTo: path.resolve(persistTo), sqlOf };
}

async function main(stop: AbortSignal): Promise<void> {
  const { target, persistTo, sqlOf } = parseArguments(process.argv.slice(2));
  createPrivately();
  const database: Database = sqlOf === "remote" ? { kind: sqlOf } : { kind: "local", persistTo };
  if (sqlOf === null ? !isStateFolder(persistTo) : isNew(database))
    throw new CommandError(
      `No service has stored anything in ${persistTo}. Name its folder by --persist-to DIR.`,
    );
  if (target.startsWith(persistTo + path.sep))
    throw new CommandError(`${target} is in the folder that is copied. Name one outside of ${persistTo}.`);
  if (existsSync(target))
    throw new CommandError(`${target} exists already. Name a new folder: a backup overwrites nothing.`);
  // Under another name until it is whole, so that a part is not taken for a backup.
  const unfinished = `${target}.unfinished-${process.pid}`;
  await makeWritableFolder(path.dirname(target));
  await mkdir(unfinished, { mode: 0o700 });
  try {
    const copied =
      sqlOf === null
        ? await copyEverything(persistTo, unfinished, stop)
        : await exportDatabases(database, unfinished, stop);
    await rename(unfinished, target);
    console.log(`Copied ${copied} to ${target}. It holds secrets: keep it where only you can read it.`);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function copyEverything(persistTo: string, target: string, stop: AbortSignal): Promise<string> {
  const onProgress = (files: number) => {
    if (files > 0 && files % PROGRESS_EVERY === 0) console.log(`${files} files …`);
  };
  const files = await copyState(persistTo, target, { onProgress, stop });
  await copySecrets(path.join(target, ".dev.vars"));
  return `${files} files`;
}

async function exportDatabases(database: Database, target: string, stop: AbortSignal): Promise<string> {
  let tables = 0;
  for (const binding of await listBindings(database.kind))
    tables += await exportDatabase({ ...database, binding }, path.join(target, `${binding}.sql`), stop);
  return `${tables} tables`;
}

/** Copies the secrets, without which a restored service would not know its own tokens. */
async function copySecrets(target: string): Promise<void> {
  const secrets = await readIfThere(SECRETS_FILE);
  if (secrets !== null) await writePrivateFile(target, secrets);
}

await runCommand(main, { help: HELP });
