/** What a restore of an organization writes, step by step; each can be sent again. The last one opens the organization. */
import * as z from "zod";
import { openEventLogs, removeLog } from "../../delivery/event-log/shards.ts";
import { DIRECTORY, openDirectory } from "../../platform/placement/databases.ts";
import { lowerFence } from "../../platform/placement/fence-store.ts";
import { deleteInvitationsOf, deleteKeysOf, deleteMembershipsOf } from "../organizations/statements.ts";
import { operatorEntry } from "./audit.ts";
import { OBJECTS, OBJECTS_AT_ONCE, ObjectRef, ObjectSlices } from "./format.ts";
import { findOwned, openObjects, restoreObjects } from "./objects.ts";
import { answer, bodyOf, genuineSlice, type Operation, type OperatorCall, refuse } from "./operator-call.ts";
import { evictOperatorToken } from "./operator-token.ts";
import { begin, placeOf } from "./restore-begin.ts";
import { completeFile, file, forget, missing } from "./restore-files.ts";
import { overtaken, restoreOf, restoreRows } from "./restore-rows.ts";
import {
  deleteRestore,
  markAbandoned,
  openOrganization,
  requireTurn,
  takeRestore,
  updatePosition,
} from "./restore-store.ts";
import type { RestoreRow } from "./table.ts";
import { deleteOperatorToken } from "./token-store.ts";

const objects: Operation = async (call) => {
  const restore = await restoreOf(call);
  const slices = await genuineSlice(call, restore.backupId, OBJECTS, ObjectSlices);
  const owned = await findOwned(call, slices.objects, placeOf(call.env, restore));
  if (owned.length !== slices.objects.length)
    throw refuse("VALIDATION_ERROR", "objects: the organization has no row of one of them");
  await restoreObjects(call, slices);
  return answer(call, {});
};

const Refs = z.object({ objects: z.array(ObjectRef).max(OBJECTS_AT_ONCE) });

/** Opens objects, once all of them are restored. */
const open: Operation = async (call) => {
  const restore = await restoreOf(call);
  const { objects: refs } = await bodyOf(call, Refs);
  await openObjects(call, await findOwned(call, refs, placeOf(call.env, restore)));
  return answer(call, {});
};

/** Notes how far the restore is: after an interruption, it continues there. */
const progress: Operation = async (call) => {
  const { position } = await bodyOf(call, z.object({ position: z.string().max(200) }));
  const [noted] = await openDirectory(call.env).run([updatePosition(await restoreOf(call), position)]);
  if (noted.length === 0) throw overtaken();
  return answer(call, {});
};

const end = ({ accountId }: OperatorCall, restore: RestoreRow) =>
  [deleteRestore(restore), deleteOperatorToken(accountId, "restore")] as const;

/** Opens the organization: in one statement, or with a database beside the directory, in one in each. */
const finish: Operation = async (call) => {
  const { env, accountId } = call;
  const restore = await restoreOf(call);
  const entry = operatorEntry(call, "restoreOrganization", { backupId: restore.backupId });
  const placed = [lowerFence(restore), openOrganization(restore), entry] as const;
  if (restore.place === DIRECTORY) {
    await openDirectory(env).run([requireTurn(restore), ...placed, ...end(call, restore)]);
  } else {
    await placeOf(env, restore).run(placed);
    await openDirectory(env).run([requireTurn(restore), openOrganization(restore), ...end(call, restore)]);
  }
  evictOperatorToken(accountId, "restore");
  return answer(call, {});
};

/**
 * Gives a restore up, and takes it over from the run that continued it: what that has written is deleted as what a
 * deleted organization owned, objects that are half restored included. The log goes first: rooms that were opened pass
 * on to it what they owe before they are deleted, and it takes nothing while it is half restored.
 */
const cancel: Operation = async (call) => {
  const { accountId, env, now } = call;
  const directory = openDirectory(env);
  const [[restore]] = await directory.run([takeRestore(accountId, now())]);
  if (restore === undefined) throw refuse("CONFLICT", "No restore of this organization is under way");
  await removeLog(openEventLogs(env), accountId);
  await placeOf(env, restore).run([lowerFence(restore)]);
  const tenant = { accountId, db: directory };
  const abandoned = [
    markAbandoned(accountId, now()),
    deleteKeysOf(tenant),
    deleteMembershipsOf(tenant),
    deleteInvitationsOf(tenant),
  ];
  await directory.run([requireTurn(restore), ...abandoned, ...end(call, restore)]);
  evictOperatorToken(accountId, "restore");
  return answer(call, {});
};

export const RESTORE_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ begin, rows: restoreRows, file, "complete-file": completeFile, missing, forget },
  ...{ objects, open, progress, finish, cancel },
};
