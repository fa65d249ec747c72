/** Restores the bytes of files: in one part, or in as many as a file has, which become a file when the last one is there. */
import * as z from "zod";
import { notFound } from "../../platform/errors.ts";
import { behindFence } from "../../platform/placement/fence-store.ts";
import { type BlobPart, openBlobs } from "../files/storage/blobs.ts";
import { FILE_PART_BYTES } from "./format.ts";
import {
  answer,
  bodyOf,
  genuineBytes,
  type Operation,
  type OperatorCall,
  parameterOf,
  refuse,
} from "./operator-call.ts";
import { placeOf } from "./restore-begin.ts";
import { restoreOf } from "./restore-rows.ts";
import { deleteFileRows, selectFileFacts, updateUpload } from "./row-store.ts";

/** What the restored index says of a file: there are no bytes without a row. */
async function factsOf(call: OperatorCall, key: string) {
  const restore = await restoreOf(call);
  const [[facts]] = await placeOf(call.env, restore).run([selectFileFacts(call.accountId, [key])]);
  if (facts === undefined) throw notFound("Files", "File");
  return { ...facts, restore };
}

/**
 * Begins the upload of a file in several parts. Its row has it until it is complete, so that it ends with the row; the
 * upload of a run that was killed ends now.
 */
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

/** Which of these files have no bytes yet, or not all. */
export const missing: Operation = async (call) => {
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

/** Takes files out of the index whose bytes the backup does not have: they were deleted while it was made. */
export const forget: Operation = async (call) => {
  const restore = await restoreOf(call);
  const { keys } = await bodyOf(call, Keys);
  await placeOf(call.env, restore).run(behindFence(restore, [deleteFileRows(call.accountId, keys)]));
  return answer(call, {});
};

/** A part of a file; the first one of several begins an upload, which the answer names. */
export const file: Operation = async (call) => {
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

/** Makes a file of its parts. */
export const completeFile: Operation = async (call) => {
  const { key, upload, parts } = await bodyOf(call, Completion);
  const { accountId, env } = call;
  const { restore } = await factsOf(call, key);
  await openBlobs(env.FILES).resume({ accountId, key }, upload).complete(parts);
  await placeOf(env, restore).run(behindFence(restore, [updateUpload(accountId, key, null)]));
  return answer(call, {});
};
