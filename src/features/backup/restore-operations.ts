/** Restores an organization step by step; each can be sent again. The last one opens the organization. */

import { notFound } from "@atrium/contract/errors.ts";
import * as z from "zod";
import { openEventLogs, removeLog } from "../../delivery/event-log/shards.ts";
import { deleteOrphanWebhooks } from "../../delivery/outbox/subscriber-store.ts";
import { DIRECTORY, openDirectory } from "../../platform/d1/databases.ts";
import { behindFence, lowerFence } from "../../platform/d1/fence-store.ts";
import { type BlobPart, openBlobs } from "../files/storage/blobs.ts";
import { deleteInvitationsOf, deleteKeysOf, deleteMembershipsOf } from "../organizations/statements.ts";
import { FILE_PART_BYTES, isObjectPart, OBJECTS_AT_ONCE, ObjectRef, ObjectSlices } from "./format.ts";
import { findOwned, openObjects, restoreObjects } from "./objects.ts";
import {
  answer,
  bodyOf,
  genuineBytes,
  genuineSlice,
  type Operation,
  type OperatorCall,
  operatorEntry,
  parameterOf,
  refuse,
} from "./operator-call.ts";
import { evictOperatorToken } from "./operator-token.ts";
import { begin, overtaken, placeOf, restoreOf, restoreRows } from "./restore-rows.ts";
import { deleteFileRows, selectFileFacts, updateUpload } from "./row-store.ts";
import { deleteOperatorToken } from "./statements.ts";
import {
  deleteRestore,
  markAbandoned,
  openOrganization,
  requireFencingToken,
  takeRestore,
  updatePosition,
} from "./store.ts";
import type { RestoreRow } from "./table.ts";

const objects: Operation = async (call) => {
  const restore = await restoreOf(call);
  const part = parameterOf(call, "part");
  if (!isObjectPart(part)) throw refuse("VALIDATION_ERROR", `part: there are no objects in ${part}`);
  const slices = await genuineSlice(call, restore.backupId, part, ObjectSlices);
  const owned = await findOwned(call, slices.objects, placeOf(call.env, restore));
  if (owned.length !== slices.objects.length)
    throw refuse("VALIDATION_ERROR", "objects: the organization has no row of one of them");
  await restoreObjects(call, slices);
  return answer(call, {});
};

const Refs = z.object({ objects: z.array(ObjectRef).max(OBJECTS_AT_ONCE) });

const open: Operation = async (call) => {
  const restore = await restoreOf(call);
  const { objects: refs } = await bodyOf(call, Refs);
  await openObjects(call, await findOwned(call, refs, placeOf(call.env, restore)));
  return answer(call, {});
};

/** Stores the position of the restore, which continues there after an interruption. */
const progress: Operation = async (call) => {
  const { position } = await bodyOf(call, z.object({ position: z.string().max(200) }));
  const [noted] = await openDirectory(call.env).run([updatePosition(await restoreOf(call), position)]);
  if (noted.length === 0) throw overtaken();
  return answer(call, {});
};

const end = ({ accountId }: OperatorCall, restore: RestoreRow) =>
  [deleteRestore(restore), deleteOperatorToken(accountId, "restore")] as const;

/** Opens the organization with one statement in each of its databases. */
const finish: Operation = async (call) => {
  const { env, accountId } = call;
  const restore = await restoreOf(call);
  const entry = operatorEntry(call, "restoreOrganization", { backupId: restore.backupId });
  const orphans = deleteOrphanWebhooks(restore);
  const placed = [lowerFence(restore), orphans, openOrganization(restore), entry] as const;
  if (restore.place === DIRECTORY) {
    await openDirectory(env).run([requireFencingToken(restore), ...placed, ...end(call, restore)]);
  } else {
    await placeOf(env, restore).run(placed);
    await openDirectory(env).run([
      requireFencingToken(restore),
      openOrganization(restore),
      ...end(call, restore),
    ]);
  }
  evictOperatorToken(accountId, "restore");
  return answer(call, {});
};

/** Deletes an unfinished restore as a deleted organization. The log goes first: opened rooms still deliver to it. */
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
  await directory.run([requireFencingToken(restore), ...abandoned, ...end(call, restore)]);
  evictOperatorToken(accountId, "restore");
  return answer(call, {});
};

async function factsOf(call: OperatorCall, key: string) {
  const restore = await restoreOf(call);
  const [[facts]] = await placeOf(call.env, restore).run([selectFileFacts(call.accountId, [key])]);
  if (facts === undefined) throw notFound("Files", "File");
  return { ...facts, restore };
}

/** Begins a multipart upload, noted in the file's row; the upload of a killed run ends. */
async function beginUpload(
  { accountId, env }: OperatorCall,
  { key, mimeType, uploadId, restore }: Awaited<ReturnType<typeof factsOf>>,
): Promise<string> {
  const blobs = openBlobs(env.FILES);
  if (uploadId !== null) await blobs.delete([{ accountId, key, uploadId }]);
  const begun = await blobs.begin({ accountId, key }, mimeType);
  await placeOf(env, restore).run(behindFence(restore, [updateUpload(accountId, key, begun.uploadId)]));
  return begun.uploadId;
}

const Keys = z.object({ keys: z.array(z.string()).max(40) });

/** The files without all of their bytes. */
const missing: Operation = async (call) => {
  const { keys } = await bodyOf(call, Keys);
  const [facts] = await placeOf(call.env, await restoreOf(call)).run([selectFileFacts(call.accountId, keys)]);
  const blobs = openBlobs(call.env.FILES);
  const found = await Promise.all(
    facts.map(async ({ key, size }) => {
      const stored = await blobs.head({ accountId: call.accountId, key });
      return stored?.size === size ? [] : [key];
    }),
  );
  return answer(call, { keys: found.flat() });
};

/** Removes files from the index whose bytes the backup lacks: they were deleted while it was made. */
const forget: Operation = async (call) => {
  const restore = await restoreOf(call);
  const { keys } = await bodyOf(call, Keys);
  await placeOf(call.env, restore).run(behindFence(restore, [deleteFileRows(call.accountId, keys)]));
  return answer(call, {});
};

/** A part of a file; the first one of several begins an upload, which the answer names. */
const file: Operation = async (call) => {
  const [key, offset] = [parameterOf(call, "key"), Number(parameterOf(call, "offset"))];
  const facts = await factsOf(call, key);
  const { size, mimeType, restore } = facts;
  const bytes = await genuineBytes(call, restore.backupId, `file ${key} ${offset}`);
  if (bytes.byteLength !== Math.min(FILE_PART_BYTES, size - offset))
    throw refuse("VALIDATION_ERROR", `${key}: the part at ${offset} has another size than its row says`);
  const blobs = openBlobs(call.env.FILES);
  const address = { accountId: call.accountId, key };
  if (size <= FILE_PART_BYTES) {
    await blobs.put(address, mimeType, bytes);
    return answer(call, { upload: null, part: null });
  }
  const upload = offset === 0 ? await beginUpload(call, facts) : parameterOf(call, "upload");
  const part: BlobPart = await blobs.resume(address, upload).add(1 + offset / FILE_PART_BYTES, bytes);
  return answer(call, { upload, part: { partNumber: part.partNumber, etag: part.etag } });
};

const Completion = z.object({
  key: z.string(),
  upload: z.string(),
  parts: z.array(z.object({ partNumber: z.int(), etag: z.string() })).min(1),
});

const completeFile: Operation = async (call) => {
  const { key, upload, parts } = await bodyOf(call, Completion);
  const { accountId, env } = call;
  const { restore } = await factsOf(call, key);
  await openBlobs(env.FILES).resume({ accountId, key }, upload).complete(parts);
  await placeOf(env, restore).run(behindFence(restore, [updateUpload(accountId, key, null)]));
  return answer(call, {});
};

export const RESTORE_OPERATIONS: Readonly<Record<string, Operation>> = {
  begin,
  rows: restoreRows,
  file,
  "complete-file": completeFile,
  missing,
  forget,
  objects,
  open,
  progress,
  finish,
  cancel,
};
