/** Reads an organization for a backup, slice by slice. Only the audit log changes. */

import { notFound } from "@atrium/contract/errors.ts";
import * as z from "zod";
import { SHARDS } from "../../delivery/event-log/shards.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { openBlobs } from "../files/storage/blobs.ts";
import { readSlice } from "../organizations/row-stream.ts";
import {
  type BackupPlan,
  FILE_PART_BYTES,
  HEADERS,
  Manifest,
  OBJECT_PARTS,
  OBJECTS_AT_ONCE,
  ObjectRef,
} from "./format.ts";
import { archiveObjects } from "./objects.ts";
import {
  answer,
  answerManifest,
  answerSigned,
  answerSlice,
  BackupId,
  bodyOf,
  type Operation,
  type OperatorCall,
  operatorEntry,
  refuse,
} from "./operator-call.ts";
import { endOperatorToken } from "./operator-token.ts";
import { COPIED, rowPartOf } from "./parts.ts";
import { selectOrganizationToCopy } from "./store.ts";

async function organizationOf({ env, accountId }: OperatorCall): Promise<BackupPlan["organization"]> {
  const { db, directory } = openTenant(env, accountId);
  const [[row]] = await directory.run([selectOrganizationToCopy(accountId)]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  if (db === directory) return row;
  const [[placed]] = await db.run([selectOrganizationToCopy(accountId)]);
  return { ...row, tokenEpoch: placed?.tokenEpoch ?? row.tokenEpoch };
}

/** Plans the copy: the parts in their order. */
const begin: Operation = async (call) => {
  const plan: BackupPlan = {
    organization: await organizationOf(call),
    parts: COPIED.map(({ name, parents }) => ({ name, ...(parents && { parents }) })),
    shards: SHARDS,
  };
  return answer(call, plan);
};

const RowsQuery = BackupId.extend({
  part: z.string(),
  after: z.array(z.union([z.string(), z.number(), z.null()])).nullable(),
});

const rows: Operation = async (call) => {
  const { backupId, part: name, after } = await bodyOf(call, RowsQuery);
  const part = rowPartOf(name);
  if (part === undefined) throw refuse("VALIDATION_ERROR", `part: there is none named ${name}`);
  const { table } = part;
  if (after !== null && after.length !== table.order.length)
    throw refuse("VALIDATION_ERROR", `after: must have ${table.order.length} values`);
  const tenant = openTenant(call.env, call.accountId);
  const db = part.database === "directory" ? tenant.directory : tenant.db;
  const slice = await readSlice(db, table, call.accountId, after);
  return answerSlice(call, backupId, name, slice);
};

const ObjectsQuery = BackupId.extend({
  part: z.enum(OBJECT_PARTS),
  objects: z.array(ObjectRef).min(1).max(OBJECTS_AT_ONCE),
  after: z.string().nullable(),
});

/** Slices of objects, as many as fit into an answer. */
const objects: Operation = async (call) => {
  const { backupId, part, objects: refs, after } = await bodyOf(call, ObjectsQuery);
  return answerSlice(call, backupId, part, await archiveObjects(call, refs, after));
};

const FileQuery = BackupId.extend({ key: z.string(), offset: z.int().min(0) });

/** A part of a file's bytes. NOT_FOUND when it was deleted meanwhile. */
const file: Operation = async (call) => {
  const { backupId, key, offset } = await bodyOf(call, FileQuery);
  const blobs = openBlobs(call.env.FILES);
  const address = { accountId: call.accountId, key };
  const facts = await blobs.head(address);
  if (facts === null || offset > facts.size) throw notFound("Files", "File");
  const isEmpty = offset === facts.size;
  const blob = isEmpty ? null : await blobs.get(address, { offset, length: FILE_PART_BYTES });
  if (blob === null && !isEmpty) throw notFound("Files", "File");
  const bytes = new Uint8Array(await new Response(blob?.body ?? null).arrayBuffer());
  return answerSigned(call, backupId, `file ${key} ${offset}`, bytes, {
    [HEADERS.fileSize]: String(facts.size),
  });
};

const Finish = Manifest.pick({ backupId: true, startedAt: true, parts: true, files: true });

/** Signs the manifest, and ends the operator's token. */
const finish: Operation = async (call) => {
  const finished = await bodyOf(call, Finish);
  const organization = await organizationOf(call);
  const { db, directory } = openTenant(call.env, call.accountId);
  await db.run([operatorEntry(call, "backUpOrganization", { backupId: finished.backupId })]);
  await endOperatorToken(directory, call.accountId, "backup");
  return answerManifest(call, { ...finished, organization });
};

export const BACKUP_OPERATIONS: Readonly<Record<string, Operation>> = { begin, rows, objects, file, finish };
