/** Where a deployment keeps its data: chosen before the first database is created, and never changed. */
import { appendFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { build, statement } from "../platform/d1/d1.ts";
import { dataLocations } from "../platform/d1/table.ts";
import { type Database, executeOnTables, type Rows } from "./database.ts";
import { SETTINGS_FILE } from "./deployment-config.ts";
import { CommandError } from "./process/command.ts";
import type { Wrangler } from "./process/wrangler.ts";

/** The settings LOCATION and JURISDICTION; empty for automatic. */
export interface DataLocation {
  readonly location: string;
  readonly jurisdiction: string;
}

/** A database as Cloudflare lists it. Its jurisdiction is null for none, and absent where the API does not say. */
export interface ListedDatabase {
  readonly name: string;
  readonly uuid: string;
  readonly jurisdiction?: string | null;
}

const GUIDE = "docs/guides/privacy.md, Where data lives";

/** Reads the location from the Worker's variables. Throws a CommandError for a location within a jurisdiction. */
export function locationIn(vars: Readonly<Record<string, unknown>>): DataLocation {
  const [location, jurisdiction] = [String(vars.LOCATION ?? ""), String(vars.JURISDICTION ?? "")];
  if (location !== "" && jurisdiction !== "")
    throw new CommandError(
      "LOCATION and JURISDICTION are both set: within a jurisdiction, Cloudflare chooses the place. Remove LOCATION.",
    );
  return { location, jurisdiction };
}

/** The options of `wrangler d1 create` and `wrangler r2 bucket create`. */
export const locationFlags = ({ location, jurisdiction }: DataLocation): readonly string[] => [
  ...(location === "" ? [] : ["--location", location]),
  ...(jurisdiction === "" ? [] : ["--jurisdiction", jurisdiction]),
];

const CHOICES: Readonly<Record<string, keyof DataLocation>> = {
  eu: "jurisdiction",
  us: "jurisdiction",
  fedramp: "jurisdiction",
  wnam: "location",
  enam: "location",
  weur: "location",
  eeur: "location",
  apac: "location",
  oc: "location",
};

const QUESTION = `Where should this deployment keep its data? It cannot be moved later.

  Enter             automatic, near you
  eu, us, fedramp   only there: a jurisdiction
  weur, eeur        near western or eastern Europe
  wnam, enam        near western or eastern North America
  apac, oc          near Asia or Oceania

> `;

/** Asks for the location on a terminal, unless it is chosen, and adds it to atrium.toml. Returns whether it added one. */
export async function askForLocation(chosen: DataLocation, stop: AbortSignal): Promise<boolean> {
  if (locationFlags(chosen).length > 0 || !process.stdin.isTTY || !process.stdout.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // The terminal gives Ctrl-C and Ctrl-D to the question, and not to the process.
  const interrupt = () => process.emit("SIGINT");
  lines.once("SIGINT", interrupt).once("close", interrupt);
  try {
    let answer = (await lines.question(QUESTION, { signal: stop })).trim().toLowerCase();
    while (answer !== "" && !Object.hasOwn(CHOICES, answer))
      answer = (await lines.question("One of these, or Enter: ", { signal: stop })).trim().toLowerCase();
    if (answer === "") return false;
    await appendFile(SETTINGS_FILE, `\n${CHOICES[answer]?.toUpperCase()} = "${answer}"\n`);
    return true;
  } finally {
    lines.off("close", interrupt).close();
  }
}

export const describeLocation = ({ location, jurisdiction }: DataLocation): string => {
  if (jurisdiction !== "") return `in the jurisdiction "${jurisdiction}"`;
  return location === "" ? "in a place of Cloudflare's choice" : `near "${location}"`;
};

const refusal = (kept: DataLocation, chosen: DataLocation) =>
  new CommandError(
    `The data of this deployment is ${describeLocation(kept)}, and the settings want it ${describeLocation(chosen)}. ` +
      `Cloudflare moves no data. To go on, set LOCATION = "${kept.location}" and JURISDICTION = "${kept.jurisdiction}". To ` +
      "move, back up all organizations (npm run account -- backup --all), deploy under another NAME, and restore them " +
      `there: ${GUIDE}.`,
  );

const refusalOf = (database: string, kept: DataLocation, chosen: DataLocation) =>
  new CommandError(
    `The database ${database} is ${describeLocation(kept)}, and the settings want the data ${describeLocation(chosen)}. ` +
      `Cloudflare moves no data. Use a database that is there (DATABASE_NAMES in atrium.toml), or deploy under another ` +
      `NAME: ${GUIDE}.`,
  );

const { location, jurisdiction } = dataLocations;
const selectLocation = () => statement(build.select({ location, jurisdiction }).from(dataLocations));

const isKept = ([row]: Rows = [], chosen: DataLocation): boolean => {
  if (row === undefined) return false;
  const kept = { location: String(row.location), jurisdiction: String(row.jurisdiction) };
  if (kept.location === chosen.location && kept.jurisdiction === chosen.jurisdiction) return true;
  throw refusal(kept, chosen);
};

/**
 * Whether the deployment has kept this location, before anything is created. Throws a CommandError when its data is
 * elsewhere: by what the API says of its databases, and by what the deployment was created with.
 */
export async function isKeptAt(
  chosen: DataLocation,
  present: readonly ListedDatabase[],
  directory: Database,
  stop: AbortSignal,
): Promise<boolean> {
  if (present.length === 0) return false;
  const rows = await executeOnTables(directory, [selectLocation()], stop).catch((error: unknown) => {
    // An earlier run ended before it made the tables.
    if (error instanceof CommandError && error.message.includes("no such table")) return [];
    throw error;
  });
  const wasKept = isKept(rows[0], chosen);
  for (const { name, jurisdiction } of present)
    if (jurisdiction !== undefined && (jurisdiction ?? "") !== chosen.jurisdiction)
      throw refusalOf(name, { location: "", jurisdiction: jurisdiction ?? "" }, chosen);
  return wasKept;
}

/** Keeps the location of a new deployment, once it has tables. Throws a CommandError when another run kept another one. */
export async function keepLocation(
  chosen: DataLocation,
  directory: Database,
  stop: AbortSignal,
): Promise<void> {
  const [, rows] = await executeOnTables(
    directory,
    [
      statement(
        build
          .insert(dataLocations)
          .values({ id: 1, ...chosen })
          .onConflictDoNothing(),
      ),
      selectLocation(),
    ],
    stop,
  );
  isKept(rows, chosen);
}

const ALREADY_THERE = /\b10004\b|already exists/i;

/** Creates the bucket where data is kept, unless it is there. Without a place, wrangler creates it when it publishes. */
export async function ensureBucket(wrangler: Wrangler, bucket: string, chosen: DataLocation): Promise<void> {
  const flags = locationFlags(chosen);
  if (flags.length === 0) return;
  try {
    await wrangler(["r2", "bucket", "create", bucket, ...flags]);
  } catch (error) {
    if (!(error instanceof CommandError) || !ALREADY_THERE.test(error.message)) throw error;
  }
}
