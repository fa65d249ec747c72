/** Edits documents for programs while people write in them, and reads the blocks that programs point at. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type {
  Edit,
  EditedDocument,
  EditedRoot,
  ReadBase,
  ReadBlocks,
} from "@atrium/contract/rest/document-edits.ts";
import { base64ToBytes, bytesToBase64, sha256 } from "../../../platform/crypto/encoding.ts";
import { causeOf } from "../../../platform/d1/context.ts";
import { writerOf } from "../../../platform/d1/rights.ts";
import { applyEdits } from "../../../room/documents/edits/apply-edits.ts";
import { readBlocks } from "../../../room/documents/edits/blocks.ts";
import { changedBlocks } from "../../../room/documents/edits/changed-blocks.ts";
import { type ReadDocument, stateBefore } from "../../../room/documents/edits/read-document.ts";
import { mergeMany } from "../../../room/documents/updates/known-content.ts";
import type { EditRequest, EditStart } from "../../../room/types/documents.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../../rooms/queries.ts";
import { authorOf, type DocumentPlace, requireOrdinary } from "./commands.ts";
import { presentChangedBlock, presentEdit } from "./present.ts";

const NO_UPDATE = new Uint8Array([0, 0]);
/** Times that an edit is made again because people wrote at its places while it was made. */
const MAX_ATTEMPTS = 4;

export interface EditList extends EditedRoot {
  readonly edits: readonly Edit[];
  readonly base?: ReadBase | undefined;
}

/**
 * Applies a list of edits, all or none. NOT_FOUND without the room or the document, unless the edits only write at its
 * start or end; CONFLICT for a place that is not there as the program has read it, or at which people keep writing.
 */
export async function editDocument(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  list: EditList,
  requestId: string | undefined,
): Promise<EditedDocument> {
  requireOrdinary(place.document);
  await requireOpenRoom(ctx, place.roomId);
  return editWithin(ctx, place, list, requestId);
}

/** The same in any document of an open room, such as the fork of a suggestion. */
export async function editWithin(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  list: EditList,
  requestId: string | undefined,
): Promise<EditedDocument> {
  const request = await requestOf(ctx, list, requestId);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const answer = await tryEdit(ctx, place, list, request, attempt > 1);
    if (answer !== null) return answer;
  }
  throw new AppError(
    "Rooms",
    "CONFLICT",
    "People are writing at this very place; read it again in a moment, and decide whether the edit still fits",
  );
}

/**
 * One attempt: null when the document changed at the edit's places while it was made, or another edit of the author went
 * on with the same client.
 */
async function tryEdit(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  { edits, base, ...root }: EditList,
  request: EditRequest,
  isRetry: boolean,
): Promise<EditedDocument | null> {
  const { roomId, document } = place;
  const author = authorOf(ctx.actor);
  const start = await ctx.rooms.beginEdit(roomId, ctx.accountId, document, request, author);
  if (start.answer !== null) return JSON.parse(start.answer) as EditedDocument;
  const current = await readForEdit(ctx, place, start, edits);
  const read = await readOf(ctx, place, start, base, current);
  if (read === null && base !== undefined && edits.some(isAnchoredStretch)) throw tooMuchSince();
  // A user's token is that of its browsers as well.
  const own = author.type === "user" ? null : author;
  const client = isRetry ? null : start.client;
  const { update, guard, edits: outcomes } = applyEdits(current, root, edits, read, own, client);
  const changed = read && changedBlocks(current, root, read.state, read.since, own).map(presentChangedBlock);
  const answer = { applied: update !== null, edits: outcomes.map(presentEdit), changed };
  if (update === null) return { seq: start.seq, base: start.seq, ...answer };
  const json = await ctx.rooms.editDocument(roomId, ctx.accountId, document, update, {
    ...start,
    client,
    author,
    writer: writerOf(ctx),
    cause: causeOf(ctx.actor),
    trace: ctx.trace,
    request,
    guard,
    answer: JSON.stringify(answer),
  });
  return json === null ? null : (JSON.parse(json) as EditedDocument);
}

async function readForEdit(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  { documentId }: EditStart,
  edits: readonly Edit[],
): Promise<Uint8Array> {
  if (documentId === null && edits.some(({ at }) => typeof at !== "string"))
    throw notFound("Rooms", "Document");
  if (documentId === null) return NO_UPDATE;
  return mergeMany((await ctx.rooms.readDocument(roomId, ctx.accountId, document)) ?? [NO_UPDATE]);
}

/**
 * The part of the document that a program has read. Of a number, it is all but the updates since. Null where that is
 * unknown: without a base, or when too much was written since. CONFLICT for a number that the document does not have.
 */
async function readOf(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  { documentId, seq }: EditStart,
  base: ReadBase | undefined,
  current: Uint8Array,
): Promise<ReadDocument | null> {
  if (base === undefined) return null;
  if (typeof base === "string") return { state: base64ToBytes(base), since: [] };
  const range = { after: base, upTo: null, documentId: documentId ?? 0, startsAtVersion: false };
  if (base > seq)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      "base: the document was deleted or restored since; read it again",
    );
  if (documentId === null) return { state: stateBefore(current, []), since: [] };
  // Read after the document: it may have updates that came after `seq`.
  const since = await ctx.rooms.readWritten(roomId, ctx.accountId, document, range).catch(nullIfTooMuch);
  return since && { state: stateBefore(current, since), since };
}

const isAnchoredStretch = (edit: Edit): boolean =>
  !("insert" in edit) && typeof edit.at === "object" && "anchor" in edit.at;

const tooMuchSince = () =>
  new AppError(
    "Rooms",
    "CONFLICT",
    "base: too much was written since to compare it; read the document again",
  );

function nullIfTooMuch(error: unknown): null {
  if (error instanceof AppError && error.code === "CONFLICT") return null;
  throw error;
}

/** The update of a list of edits in a document as it was read, null for none, with the outcomes. Throws as {@link editDocument}. */
export async function editsOf(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  start: EditStart,
  { edits, base, ...root }: EditList,
  current: Uint8Array,
) {
  if (edits.length === 0) return { update: null, edits: [] };
  const author = authorOf(ctx.actor);
  const read = await readOf(ctx, place, start, base, current);
  if (read === null && base !== undefined && edits.some(isAnchoredStretch)) throw tooMuchSince();
  // A user's token is that of its browsers as well.
  const own = author.type === "user" ? null : author;
  const { update, edits: outcomes } = applyEdits(current, root, edits, read, own, null);
  return { update, edits: outcomes.map(presentEdit) };
}

/** `purpose` tells requests apart that carry the same edits. */
export const requestOf = async (
  ctx: LiveRoomContext,
  list: EditList,
  requestId: string | undefined,
  purpose = "",
): Promise<EditRequest> => ({
  sender: senderOf(ctx),
  requestId,
  digest: purpose + (await digestOf(ctx, list)),
});

/** No user has the name of a workflow's runs. */
const senderOf = ({ actor }: LiveRoomContext): string => {
  if (actor.type === "user") return actor.userId;
  return actor.type === "workflow" ? `workflow:${actor.workflowId}` : "";
};

/** A run that is made again reads other anchors, and names its edit by the request ID alone. */
const digestOf = async (
  { actor }: LiveRoomContext,
  { root, type, base, edits }: EditList,
): Promise<string> =>
  actor.type === "workflow"
    ? ""
    : sha256(new TextEncoder().encode(JSON.stringify([root, type, base ?? null, edits])));

interface BlocksQuery extends EditedRoot {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Reads blocks with their anchors. NOT_FOUND without the room or the document; CONFLICT for a large one. */
export async function readDocumentBlocks(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  { after, limit, ...root }: BlocksQuery,
): Promise<ReadBlocks> {
  await getRoomRow(ctx, roomId);
  const request = { sender: "", requestId: undefined, digest: "" };
  // The number is read first: an update that comes in between counts as written after it.
  const { seq } = await ctx.rooms.beginEdit(roomId, ctx.accountId, document, request, null);
  const updates = await ctx.rooms.readDocument(roomId, ctx.accountId, document);
  if (updates === null) throw notFound("Rooms", "Document");
  const from = after === undefined ? null : base64ToBytes(after);
  const { blocks, hasMore } = readBlocks(mergeMany(updates), root, { after: from, limit });
  return {
    base: seq,
    blocks: blocks.map(({ anchor, end, attributes, ...block }) => ({
      anchor: bytesToBase64(anchor),
      end: bytesToBase64(end),
      ...block,
      attributes: { ...attributes },
    })),
    next: hasMore ? bytesToBase64(blocks.at(-1)?.end ?? new Uint8Array()) : null,
  };
}
