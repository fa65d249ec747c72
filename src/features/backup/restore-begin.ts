/** Begins a restore, or takes over one that was interrupted: the organization is there then, and closed to everyone. */

import type { Database } from "../../platform/d1/d1.ts";
import { violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { AppError } from "../../platform/errors.ts";
import { choosePlace } from "../../platform/placement/choose-place.ts";
import { DIRECTORY, openAll, openDirectory } from "../../platform/placement/databases.ts";
import { lowerFence, raiseFence } from "../../platform/placement/fence-store.ts";
import { ARCHIVE_FORMAT, Manifest, type RestorePlan, SCHEMA } from "./format.ts";
import {
  answer,
  genuineSlice,
  type Operation,
  type OperatorCall,
  parameterOf,
  refuse,
} from "./operator-call.ts";
import { RESTORED } from "./parts.ts";
import {
  insertAnchor,
  insertRestore,
  selectArchived,
  selectRemains,
  selectRestore,
  takeRestore,
} from "./restore-store.ts";
import type { RestoreRow } from "./table.ts";

/** The database that an organization is restored to. */
export function placeOf(env: OperatorCall["env"], { place }: RestoreRow): Database {
  const database = openAll(env).get(place);
  if (database === undefined)
    throw refuse("CONFLICT", `The database ${place} is not bound any more; bind it again`);
  return database;
}

/** Refuses what this version of the service cannot read. */
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

/** What is left of a deleted organization goes within minutes; its bytes would take those that are restored along. */
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
    ...{ accountId, backupId, tokenEpoch },
    ...{ place: choosePlace(env).name, turn: 0, position: "", startedAt: now() },
  };
  try {
    await openDirectory(env).run(insertRestore(organization, row));
  } catch (error) {
    if (violatedConstraint(error) === null) throw error;
    throw exists(); // since it was looked for
  }
}

/** Takes the restore over, so that what an earlier run still sends is refused, and closes the organization. */
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
