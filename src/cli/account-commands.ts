/** Commands of `npm run account`: arguments, and results as JSON and as text. */
import path from "node:path";
import { QUOTAS } from "@atrium/contract/resources/quota.ts";
import type { Outcome } from "./archive-commands.ts";
import { type Database, DEFAULT_PERSIST_TO } from "./database.ts";
import {
  createOrganization,
  endTokens,
  isOrganizationName,
  moveOrganization,
  parseLimits,
  type ShownQuota,
  setLimits,
} from "./organization.ts";
import { createPasswordLink, deletePersonOf, exportPersonOf, turnSecondFactorOff } from "./person.ts";
import { readFlags, UsageError } from "./process/command.ts";
import { bearerOf } from "./secrets.ts";

interface Arguments {
  readonly command: keyof typeof COMMANDS;
  /** The first word after the command, and the words after that. */
  readonly subject: string;
  readonly operands: readonly string[];
  /** The binding of a database. */
  readonly place: string;
  readonly database: Database;
  readonly url: string | undefined;
  readonly cancel: boolean;
  /** The whole deployment, not one organization. */
  readonly all: boolean;
  readonly json: boolean;
}

interface Command {
  /** Each form of the command, without the flags that all have. */
  readonly forms: readonly string[];
  readonly about: string;
  /** Flags that only some commands have. */
  readonly flags?: readonly ("in" | "to" | "url" | "all" | "cancel")[];
  /** Whether this number of words may follow the subject; none by default. */
  readonly takes?: (count: number, all: boolean) => boolean;
  readonly run: (args: Arguments, stop: AbortSignal) => Promise<Outcome>;
}

async function create({ subject: name, database, place }: Arguments, stop: AbortSignal): Promise<Outcome> {
  if (!isOrganizationName(name))
    throw new UsageError("NAME must have 1 to 255 characters, none of them NUL.");
  const credentials = await createOrganization(database, name, place, stop);
  const text = `Created the organization ${JSON.stringify(name)}. Keep its API key: it is shown only once.

  Account ID  ${credentials.accountId}
  API key     ${credentials.apiKey}
  Header      Authorization: Bearer ${bearerOf(credentials)}
`;
  return { result: credentials, text };
}

const NAME_WIDTH = Math.max(...QUOTAS.map(({ length }) => length));

const quotaLine = ({ quota, used, limit }: ShownQuota): string =>
  `  ${quota.padEnd(NAME_WIDTH)}${String(used).padStart(16)} of ${limit ?? "the default"}`;

async function limits({ subject, operands, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  const quotas = await setLimits(database, subject, parseLimits(operands), stop);
  return { result: quotas, text: quotas.map(quotaLine).join("\n") };
}

async function end({ subject, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  const rooms = await endTokens(database, subject, stop);
  const online = rooms === 1 ? "the room with users online" : `the ${rooms} rooms with users online`;
  const sockets = rooms === 0 ? "" : ` The sockets of ${online} close within about a minute.`;
  return { result: { rooms }, text: `Ended the tokens of all users.${sockets}` };
}

const PHASES: Readonly<Record<string, string>> = {
  copying: "It is being copied, and cannot be changed meanwhile.",
  comparing: "Its copy is being compared, and it cannot be changed meanwhile.",
  settling: "It can be changed again within half a minute.",
  removing: "Unneeded data is being removed from the other database.",
  cancelled: "The move is being cancelled.",
};

async function move({ subject, database, place }: Arguments, stop: AbortSignal): Promise<Outcome> {
  const result = await moveOrganization(database, subject, place, stop);
  const { database: present, phase } = result;
  const further = phase === null ? "" : ` ${PHASES[phase]} Run this again to see how far it is.`;
  return { result, text: `The organization is in ${present}.${further}` };
}

async function link({ subject: email, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  const address = await createPasswordLink(database, email, stop);
  const text = `Open this path at the address of the service, once and within an hour:\n\n  ${address}\n`;
  return { result: { path: address }, text };
}

async function factorOff({ subject: email, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  await turnSecondFactorOff(database, email, stop);
  return { result: { turned_off: email }, text: `Turned off the second factor of ${email}.` };
}

async function exportOne({ subject: email, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  for await (const record of exportPersonOf(database, email, stop)) console.log(JSON.stringify(record));
  return { result: null, text: null };
}

async function deleteOne({ subject: email, database }: Arguments, stop: AbortSignal): Promise<Outcome> {
  await deletePersonOf(database, email, stop);
  return { result: { deleted: email }, text: `Deleted ${email}. Sessions end within 10 seconds.` };
}

/** Loaded by the commands that need it. */
const archive = () => import("./archive-commands.ts");

const define = <Name extends string>(commands: Readonly<Record<Name, Command>>) => commands;

export const COMMANDS = define({
  create: {
    forms: ["NAME [--in DB_2]"],
    about: "makes an organization, and prints its first API key, which is shown only once",
    flags: ["in"],
    run: create,
  },
  limits: {
    forms: ["ACCOUNT_ID [QUOTA=NUMBER|QUOTA=default …]"],
    about: "shows the quotas of an organization, and sets the named ones",
    takes: () => true,
    run: limits,
  },
  "end-tokens": { forms: ["ACCOUNT_ID"], about: "ends the tokens of all users of an organization", run: end },
  move: {
    forms: ["ACCOUNT_ID --to DB_2"],
    about:
      "moves an organization to another database, and shows the progress; moving it back cancels the move",
    flags: ["to"],
    run: move,
  },
  backup: {
    forms: ["ACCOUNT_ID FOLDER [--url URL]", "--all FOLDER [--url URL]"],
    about: "copies an organization, which stays in use, to a new folder; run again, it continues",
    flags: ["url", "all"],
    takes: (count, all) => count === (all ? 0 : 1),
    run: async (args, stop) => {
      const { backUp, backUpAll } = await archive();
      return args.all ? backUpAll(args, stop) : backUp(args, stop);
    },
  },
  restore: {
    forms: [
      "FOLDER [--url URL]",
      "FOLDER|ACCOUNT_ID --cancel [--url URL]",
      "--all FOLDER [--cancel] [--url URL]",
    ],
    about: "brings a deleted organization back from a backup; run again, it continues",
    flags: ["url", "all", "cancel"],
    run: async (args, stop) => {
      const { restore, restoreAll } = await archive();
      return args.all ? restoreAll(args, stop) : restore(args, stop);
    },
  },
  "password-link": {
    forms: ["EMAIL"],
    about: "makes a link by which the person with this address chooses a new password",
    run: link,
  },
  "second-factor-off": {
    forms: ["EMAIL"],
    about: "turns off the second factor of the person with this address, who lost the device and the codes",
    run: factorOff,
  },
  "export-person": {
    forms: ["EMAIL"],
    about: "prints the stored data of the person with this address, one JSON object a line",
    run: exportOne,
  },
  "delete-person": {
    forms: ["EMAIL"],
    about: "deletes that person, who must not be the only owner of an organization",
    run: deleteOne,
  },
});

const entries: readonly (readonly [string, Command])[] = Object.entries(COMMANDS);
const FORMS = entries.flatMap(([name, { forms }]) => forms.map((form) => `${name} ${form}`));
export const USAGE = `Usage: ${FORMS.map(
  (form) => `npm run account -- ${form} [--persist-to DIR | --remote] [--json]`,
).join("\n       ")}`;
export const HELP = `${USAGE}

${entries.map(([name, { about }]) => `  ${name.padEnd(19)}${about}`).join("\n")}

  --in DB_2         the database of a new organization; DB by default
  --to DB_2         the database that an organization moves to
  --url URL         the address of the service for a backup or restore; http://localhost:8787 by default
  --cancel          gives up an incomplete restore, and deletes the restored data
  --all             backs up or restores all organizations of the service, and its people
  --persist-to DIR  the state folder of the local service; .wrangler/state by default
  --remote          the database of the deployment instead
  --json            prints JSON, for scripts`;

const isCommand = (name: string): name is Arguments["command"] => Object.hasOwn(COMMANDS, name);

export function parseArguments(args: string[]): Arguments {
  const { values, positionals } = readFlags(USAGE, args, {
    "persist-to": { type: "string" },
    in: { type: "string" },
    to: { type: "string" },
    url: { type: "string" },
    all: { type: "boolean" },
    cancel: { type: "boolean" },
    remote: { type: "boolean" },
    json: { type: "boolean" },
  });
  const [command = "", subject, ...operands] = positionals;
  const { remote = false, all = false, cancel = false, json = false, in: within, to, url } = values;
  const persistTo = values["persist-to"];
  if (!isCommand(command) || subject === undefined) throw new UsageError(USAGE);
  const { flags = [], takes = (count) => count === 0 }: Command = COMMANDS[command];
  const given = Object.entries({ in: within, to, url, all: values.all, cancel: values.cancel });
  const isMisplaced = given.some(
    ([name, value]) => value !== undefined && !flags.some((flag) => flag === name),
  );
  // An empty name of an organization has a message of its own.
  const isIncomplete = (subject === "" && command !== "create") || (command === "move" && to === undefined);
  const isContradictory = persistTo === "" || (remote && persistTo !== undefined);
  if (isMisplaced || isIncomplete || isContradictory || !takes(operands.length, all))
    throw new UsageError(USAGE);
  const database: Database = remote
    ? { kind: "remote" }
    : { kind: "local", persistTo: path.resolve(persistTo ?? DEFAULT_PERSIST_TO) };
  return { command, subject, operands, database, place: within ?? to ?? "DB", url, all, cancel, json };
}
