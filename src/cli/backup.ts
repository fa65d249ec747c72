/** `npm run backup`: copies everything that the service on this machine stores, while it runs. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { copyState } from "./archive/copy-state.ts";
import { DEFAULT_PERSIST_TO } from "./database.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { makeWritableFolder, readIfThere, writePrivateFile } from "./process/folder.ts";
import { SECRETS_FILE } from "./secrets.ts";
import { isStateFolder } from "./service/reservation.ts";

const USAGE = "Usage: npm run backup -- DIR [--persist-to DIR]";
const HELP = `${USAGE}

Copies everything that the service on this machine stores to the new folder DIR, while it runs or not.
To restore it, copy .dev.vars from DIR to the checkout, and run: npm start -- --persist-to DIR

  --persist-to DIR  the state folder to copy; .wrangler/state by default

A deployment on Cloudflare is restored otherwise: docs/guides/operating.md, Backups.`;

const PROGRESS_EVERY = 1_000;

function parseArguments(args: string[]): { readonly target: string; readonly persistTo: string } {
  const { values, positionals } = readFlags(USAGE, args, { "persist-to": { type: "string" } });
  const [target = "", ...others] = positionals;
  const { "persist-to": persistTo = DEFAULT_PERSIST_TO } = values;
  if (target === "" || persistTo === "" || others.length > 0) throw new UsageError(USAGE);
  return { target: path.resolve(target), persistTo: path.resolve(persistTo) };
}

async function main(stop: AbortSignal): Promise<void> {
  const { target, persistTo } = parseArguments(process.argv.slice(2));
  if (!isStateFolder(persistTo))
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
    const onProgress = (files: number) => {
      if (files > 0 && files % PROGRESS_EVERY === 0) console.log(`${files} files …`);
    };
    const files = await copyState(persistTo, unfinished, { onProgress, stop });
    await copySecrets(path.join(unfinished, ".dev.vars"));
    await rename(unfinished, target);
    console.log(`Copied ${files} files to ${target}. It holds secrets: keep it where only you can read it.`);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Copies the secrets, without which a restored service would not know its own tokens. */
async function copySecrets(target: string): Promise<void> {
  const secrets = await readIfThere(SECRETS_FILE);
  if (secrets !== null) await writePrivateFile(target, secrets);
}

await runCommand(main, { help: HELP });
