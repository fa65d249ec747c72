/** Writes the rows of a backup: only rows of the organization, and only while this run has the restore. */

import { AppError } from "@atrium/contract/errors.ts";
import { type Database, isFenced, violatedConstraint } from "../../platform/d1/d1.ts";
import { DIRECTORY, openAll, openDirectory } from "../../platform/d1/databases.ts";
import { behindFence, lowerFence, raiseFence } from "../../platform/d1/fence-store.ts";
import { choosePlace } from "../../platform/d1/place.ts";
import { ARCHIVE_FORMAT, Manifest, type RestorePlan, RowSlice, SCHEMA } from "./format.ts";
import {
  answer,
  genuineSlice,
  type Operation,
  type OperatorCall,
  parameterOf,
  refuse,
} from "./operator-call.ts";
import { RESTORED, type RowPart, rowPartOf } from "./parts.ts";
import { selectKnownPeople, selectOwned, type Write, writeRows } from "./row-store.ts";
import {
  insertAnchor,
  insertRestore,
  requireFencingToken,
  selectArchived,
  selectRemains,
  selectRestore,
  takeRestore,
} from "./store.ts";
import type { RestoreRow } from "./table.ts";

export async function restoreOf({ env, accountId }: OperatorCall): Promise<RestoreRow> {
  const [[row]] = await openDirectory(env).run([selectRestore(accountId)]);
  if (row === undefined) throw refuse("CONFLICT", "No restore of this organization is under way; begin it");
  return row;
}

export const overtaken = () =>
  refuse("CONFLICT", "Another run continues this restore; let it, or run the command again");

/** Runs the writes while the restore is this run's. */
async function write(
  { env }: OperatorCall,
  restore: RestoreRow,
  part: RowPart,
  { statements, returned }: Write,
) {
  const isInDirectory = part.database === "directory";
  try {
    const results = isInDirectory
      ? await openDirectory(env).run([requireFencingToken(restore), ...statements])
      : await placeOf(env, restore).run(behindFence(restore, statements));
    if (results.flat().length === returned) return;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint?.startsWith("required:restores") || constraint?.startsWith("required:fences"))
      throw overtaken();
    if (isFenced(error)) throw overtaken();
    if (constraint === null) throw error;
  }
  throw refuse(
    "CONFLICT",
    `${part.name}: a row has what a row of another organization has; nothing of that was changed`,
  );
}

const isOwn = (accountId: string, row: RowSlice["rows"][number]): boolean =>
  "scope" in row
    ? row.scope === accountId || String(row.scope).startsWith(`${accountId}:`)
    : row.account_id === accountId;

export const restoreRows: Operation = async (call) => {
  const restore = await restoreOf(call);
  const name = parameterOf(call, "part");
  const part = rowPartOf(name);
  if (part === undefined) throw refuse("VALIDATION_ERROR", `part: there is none named ${name}`);
  const slice = await genuineSlice(call, restore.backupId, name, RowSlice);
  if (!slice.rows.every((row) => isOwn(call.accountId, row)))
    throw refuse("VALIDATION_ERROR", `${name}: a row belongs to another organization`);
  const kept = await withMakers(call, part, await withParents(call, restore, part, slice.rows));
  if (kept.length > 0) await write(call, restore, part, writeRows(part, kept, call.now()));
  return answer(call, { written: kept.length });
};

/** Drops rows whose parent is not in the backup: it was created after its part. */
async function withParents(
  call: OperatorCall,
  restore: RestoreRow,
  { parents = [] }: RowPart,
  all: RowSlice["rows"],
): Promise<RowSlice["rows"]> {
  let kept = all;
  for (const { part, column } of parents) {
    const ids = [...new Set(kept.flatMap((row) => (row[column] === null ? [] : String(row[column]))))];
    const [found] = await placeOf(call.env, restore).run([selectOwned(part, call.accountId, ids)]);
    const owned = new Set(found.map(({ id }) => id));
    kept = kept.filter((row) => row[column] === null || owned.has(String(row[column])));
  }
  return kept;
}

/** Drops invitations by unknown people: no loss of ownership would end them. */
async function withMakers(
  { env }: OperatorCall,
  { name }: RowPart,
  all: RowSlice["rows"],
): Promise<RowSlice["rows"]> {
  if (name !== "invitations") return all;
  const [known] = await openDirectory(env).run([selectKnownPeople(all.map((row) => row.invited_by))]);
  const ids = new Set(known.map(({ id }) => id));
  return all.filter(({ invited_by: maker }) => maker === null || ids.has(String(maker)));
}

export function placeOf(env: OperatorCall["env"], { place }: RestoreRow): Database {
  const database = openAll(env).get(place);
  if (database === undefined)
    throw refuse("CONFLICT", `The database ${place} is not bound any more; bind it again`);
  return database;
}

export function requireVersion({ format, schema }: Pick<Manifest, "format" | "schema">): void {
  if (format !== ARCHIVE_FORMAT || schema > SCHEMA)
    throw refuse(
      "CONFLICT",
      `The backup has format ${format} with schema ${schema}, and this service reads format ${ARCHIVE_FORMAT} up to ` +
        `schema ${SCHEMA}; restore it with a service of another version`,
    );
}

const exists = () =>
  refuse(
    "CONFLICT",
    "The organization exists; a restore overwrites nothing. Delete it first, or restore into another deployment",
  );

/** Removal of a deleted organization takes minutes, and would take restored bytes along. */
async function requireGone({ env, accountId }: OperatorCall): Promise<void> {
  const [[account]] = await openDirectory(env).run([selectArchived(accountId)]);
  if (account !== undefined && account.deletedAt === null) throw exists();
  const left = await Promise.all([...openAll(env).values()].map((db) => db.run(selectRemains(accountId))));
  if (account === undefined && left.flat(2).length === 0) return;
  throw new AppError(
    "Server",
    "RATE_LIMITED",
    "The organization was deleted, and what it owned is still being removed; try again in a minute",
    10,
  );
}

async function insert(call: OperatorCall, { backupId, organization }: Manifest): Promise<void> {
  await requireGone(call);
  const { env, accountId, now } = call;
  const { tokenEpoch } = organization;
  const row: RestoreRow = {
    accountId,
    backupId,
    tokenEpoch,
    place: choosePlace(env).name,
    fencingToken: 0,
    position: "",
    startedAt: now(),
  };
  try {
    await openDirectory(env).run(insertRestore(organization, row));
  } catch (error) {
    if (violatedConstraint(error) === null) throw error;
    throw exists(); // since it was looked for
  }
}

/** Takes the restore over and closes the organization. Later requests of an earlier run are refused. */
async function takeOver(call: OperatorCall, organization: Manifest["organization"]): Promise<RestoreRow> {
  const { env, accountId, now } = call;
  const [[taken]] = await openDirectory(env).run([takeRestore(accountId, now())]);
  if (taken === undefined) throw exists();
  const fence = raiseFence(taken);
  if (taken.place === DIRECTORY) await openDirectory(env).run([fence]);
  else await placeOf(env, taken).run([lowerFence(taken), insertAnchor(organization), fence]);
  return taken;
}

export const begin: Operation = async (call) => {
  const manifest = await genuineSlice(call, parameterOf(call, "backup"), "manifest", Manifest);
  const { id } = manifest.organization;
  if (id !== call.accountId) throw refuse("VALIDATION_ERROR", `The backup is of the organization ${id}`);
  requireVersion(manifest);
  const [[standing]] = await openDirectory(call.env).run([selectRestore(call.accountId)]);
  if (standing === undefined) await insert(call, manifest);
  else if (standing.backupId !== manifest.backupId)
    throw refuse(
      "CONFLICT",
      "The organization is being restored from another backup; continue with that one, or cancel it first",
    );
  const { position } = await takeOver(call, manifest.organization);
  const plan: RestorePlan = { parts: [...RESTORED], position };
  return answer(call, plan);
};
