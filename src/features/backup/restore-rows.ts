/** Writes the rows of a backup: those of the organization alone, while the restore is this run's. */

import { isFenced, violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { openDirectory } from "../../platform/placement/databases.ts";
import { behindFence } from "../../platform/placement/fence-store.ts";
import { RowSlice } from "./format.ts";
import { findOwned } from "./objects.ts";
import {
  answer,
  genuineSlice,
  type Operation,
  type OperatorCall,
  parameterOf,
  refuse,
} from "./operator-call.ts";
import { type RowPart, rowPartOf } from "./parts.ts";
import { placeOf } from "./restore-begin.ts";
import { requireTurn, selectRestore } from "./restore-store.ts";
import { selectKnownPeople, type Write, writeRows } from "./row-store.ts";
import type { RestoreRow } from "./table.ts";

/** The restore that is under way. */
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
      ? await openDirectory(env).run([requireTurn(restore), ...statements])
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

/** Rows of a part. */
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

/** Without rows of what was created only after its part of the backup. */
async function withParents(
  call: OperatorCall,
  restore: RestoreRow,
  { parent }: RowPart,
  all: RowSlice["rows"],
): Promise<RowSlice["rows"]> {
  if (parent === undefined) return all;
  const kind = parent.part === "rooms" ? "room" : "workflow";
  const ids = new Set(all.map((row) => String(row[parent.column])));
  const refs = [...ids].map((id) => ({ kind, id }) as const);
  const owned = new Set((await findOwned(call, refs, placeOf(call.env, restore))).map(({ id }) => id));
  return all.filter((row) => owned.has(String(row[parent.column])));
}

/** Without invitations whose maker is no person of this service: no one's ownership would end them. */
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
