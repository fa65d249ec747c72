/** The methods of a run's bindings by name, with the arguments that each accepts. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { CommentPost } from "@atrium/contract/operations/comments.ts";
import { BroadcastData } from "@atrium/contract/operations/presence.ts";
import { Key, StoreName, WrittenPlace } from "@atrium/contract/operations/stores.ts";
import { Json } from "@atrium/contract/operations/values.ts";
import {
  Anchor,
  DocumentEdits,
  EDIT_LIMITS,
  type Edit,
  EditedRoot,
} from "@atrium/contract/rest/document-edits.ts";
import { SHARED_TYPES } from "@atrium/contract/shared-types.ts";
import { describeOverflow, findOverflow, isTooDeep, parseJson, text } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { RoomDocument } from "@atrium/contract/workflow/bindings.ts";
import * as z from "zod";
import { explain } from "../../http/request-input.ts";
import type { Page } from "../../platform/d1/d1.ts";
import type { FetchedResponse } from "../../sandbox/runners/runner.ts";
import { deleteFile, putFile } from "../files/commands.ts";
import type { FileOperationContext } from "../files/context.ts";
import { cleanName, parseKey } from "../files/file-name.ts";
import { listFiles, readFile } from "../files/queries.ts";
import { cleanType, parseTypeFilter } from "../files/storage/media-type.ts";
import { callRoom, readStore } from "../room-content/commands.ts";
import { postComment } from "../room-content/comments.ts";
import { listDocuments, renderDocument } from "../room-content/documents/commands.ts";
import { editDocument, readDocumentBlocks } from "../room-content/documents/edit-commands.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { findRoom } from "../rooms/queries.ts";
import { listBareUsers } from "../users/queries.ts";

/** The largest file that a run may read or write: files pass through memory whole. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Largest store that a run may read whole, in pages of about a MiB; it passes through memory, too. */
const MAX_STORE_PAGES = 8;
const EVERYTHING: Page = { limit: 1_000, offset: 0, search: "", from: 0, to: Number.MAX_SAFE_INTEGER };
/** The arguments of one action, as JSON. */
const MAX_ACTION_BYTES = 1024 * 1024;
const MAX_ACTION_DEPTH = 32;

export const refusal = (why: string) => new AppError("Workflows", "BAD_REQUEST", why);

/** The treatment of redirects, as in `RequestInit`. */
export type RedirectMode = "follow" | "manual" | "error";

export interface CallingRun {
  readonly context: FileOperationContext & LiveRoomContext;
  readonly roomId: string;
  readonly workflowId: string;
  fetch(request: Request, redirect: RedirectMode): Promise<FetchedResponse>;
  /** The request ID of an action: a run that is made again for its event repeats it. */
  requestId(action: string, args: object): Promise<string>;
}

type Method = (run: CallingRun, sent: unknown) => Promise<unknown>;

function parse<Schema extends z.ZodType>(schema: Schema, sent: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(sent);
  if (!parsed.success) throw refusal(explain(parsed.error, "arguments"));
  return parsed.data;
}

const method =
  <Schema extends z.ZodType>(
    schema: Schema,
    work: (run: CallingRun, args: z.infer<Schema>) => Promise<unknown>,
  ): Method =>
  async (run, sent) =>
    work(run, parse(schema, sent));

/** A change of the room, as the organization. Its arguments are sent as JSON. */
const action =
  <Schema extends z.ZodObject>(
    name: string,
    schema: Schema,
    work: (run: CallingRun, data: z.infer<Schema>, requestId: string) => Promise<unknown>,
    identityOf: (data: z.infer<Schema>) => object = (data) => data,
  ): Method =>
  async (run, json) => {
    if (typeof json !== "string" || json.length > MAX_ACTION_BYTES)
      throw refusal(`the arguments must have at most ${MAX_ACTION_BYTES} bytes as JSON`);
    if (isTooDeep(json, MAX_ACTION_DEPTH))
      throw refusal(`the arguments nest deeper than ${MAX_ACTION_DEPTH} levels`);
    const sent = parseJson(json);
    const data = parse(schema, sent);
    const overflow = findOverflow(sent);
    if (overflow !== null) throw refusal(describeOverflow(overflow, "arguments"));
    return work(run, data, await run.requestId(name, identityOf(data)));
  };

const nullIfMissing = (error: unknown): null => {
  if (error instanceof AppError && error.code === "NOT_FOUND") return null;
  throw error;
};

const NOTHING = z.strictObject({});
const FileKey = z.strictObject({ key: z.string().max(1024) });
const DocumentName = text(1, DOCUMENT_LIMITS.documentNameLength);
/** A run that is made again reads other anchors for the same edit. */
const withoutAnchors = ({ at, ...edit }: Edit) =>
  typeof at === "object" && "anchor" in at ? edit : { at, ...edit };

const Target = z.object({ store: StoreName, key: Key });

export const METHODS: Readonly<Record<string, Method>> = {
  "store.get": method(
    z.strictObject({ store: StoreName, key: Key }),
    async ({ context, roomId }, place) => (await callRoom(context, roomId, "STORE_GET", place)).value,
  ),
  /** Pairs of key and value: as keys of an object, some (such as `__proto__`) would have a meaning of their own. */
  "store.getAll": method(z.strictObject({ store: StoreName }), async ({ context, roomId }, { store }) => {
    const pairs: [key: string, value: unknown][] = [];
    let pages = 0;
    for await (const { entries } of readStore(context, roomId, store)) {
      pages += 1;
      if (pages > MAX_STORE_PAGES)
        throw refusal(
          `the store is too large to read whole: it has more than ${MAX_STORE_PAGES} MiB; use store.get`,
        );
      for (const [key, { value }] of Object.entries(entries)) pairs.push([key, value]);
    }
    return pairs;
  }),
  "room.get": method(NOTHING, ({ context, roomId }) => findRoom(context, { id: roomId })),
  "room.getUsers": method(NOTHING, ({ context, roomId }) => listBareUsers(context, roomId, EVERYTHING)),
  "documents.list": method(NOTHING, async ({ context, roomId }) => {
    const documents = await listDocuments(context, roomId);
    return documents.map(
      ({ name, bytes, seq, createdAt, updatedAt }): RoomDocument => ({
        name,
        bytes,
        seq,
        created_at: presentTime(createdAt),
        updated_at: presentTime(updatedAt),
      }),
    );
  }),
  "documents.get": method(
    z.strictObject({
      name: DocumentName,
      content: z.strictObject({
        type: z.enum(SHARED_TYPES).default("text"),
        root: text(1, 255).default("default"),
      }),
    }),
    async ({ context, roomId }, { name, content }) => {
      const whole = { ...content, version: null, maxLength: null };
      const rendered = await renderDocument(context, { roomId, document: name }, whole).catch(nullIfMissing);
      return rendered === null ? null : rendered.content;
    },
  ),
  "documents.blocks": method(
    z.strictObject({
      name: DocumentName,
      blocks: EditedRoot.extend({ after: Anchor.optional() }).strict(),
    }),
    ({ context, roomId }, { name, blocks }) =>
      readDocumentBlocks(context, { roomId, document: name }, { ...blocks, limit: EDIT_LIMITS.blocks }).catch(
        nullIfMissing,
      ),
  ),
  "files.list": method(
    z.strictObject({
      filter: z.strictObject({
        mimeType: z
          .string()
          .refine(
            (type) => parseTypeFilter(type) !== null,
            "must be a media type such as image/png or image/*",
          )
          .optional(),
        userId: z.string().max(255).optional(),
      }),
    }),
    async ({ context, roomId }, { filter: { mimeType, userId } }) => {
      const mediaType = mimeType === undefined ? null : parseTypeFilter(mimeType);
      const wanted = { mediaTypes: mediaType === null ? [] : [mediaType], uploadedBy: userId ?? null };
      return (await listFiles(context, roomId, wanted, EVERYTHING)).files;
    },
  ),
  "files.get": method(FileKey, async ({ context, roomId }, { key }) => {
    const found = await readFile(context, roomId, key, MAX_FILE_BYTES);
    return found && { ...found.file, data: found.bytes };
  }),
  "files.put": method(
    z.strictObject({
      name: z
        .string()
        .transform((name) => cleanName(name))
        .refine((name) => name !== "", "must not be empty"),
      bytes: z
        .instanceof(Uint8Array)
        .refine(({ byteLength }) => byteLength <= MAX_FILE_BYTES, `may have at most ${MAX_FILE_BYTES} bytes`),
      type: z
        .string()
        .optional()
        .transform((type) => cleanType(type)),
    }),
    ({ context, roomId, workflowId }, { name, bytes, type }) => {
      const upload = { roomId, userId: `workflow:${workflowId}`, filename: name, mimeType: type };
      return putFile(context, upload, bytes);
    },
  ),
  "files.delete": method(FileKey, async ({ context, roomId }, { key }) => {
    if (parseKey(key)?.roomId !== roomId) return false;
    return (await deleteFile(context, key).catch(nullIfMissing)) !== null;
  }),
  fetch: method(
    z.strictObject({
      request: z.custom<Request>((value) => value instanceof Request, "must be a Request"),
      redirect: z.enum(["follow", "manual", "error"]),
    }),
    (run, { request, redirect }) => run.fetch(request, redirect),
  ),
  "actions.stores.set": action("stores.set", WrittenPlace.extend({ value: Json }), (run, data, requestId) =>
    callRoom(run.context, run.roomId, "STORE_SET", data, { requestId }),
  ),
  "actions.stores.delete": action("stores.delete", Target, (run, data, requestId) =>
    callRoom(run.context, run.roomId, "STORE_DELETE", data, { requestId }),
  ),
  "actions.comments.create": action("comments.create", CommentPost, (run, data, requestId) =>
    postComment(run.context, run.roomId, data, requestId),
  ),
  "actions.comments.resolve": action(
    "comments.resolve",
    z.object({ commentId: z.string().min(1).max(255), resolved: z.boolean().default(true) }),
    (run, data, requestId) => callRoom(run.context, run.roomId, "COMMENT_RESOLVE", data, { requestId }),
  ),
  "actions.documents.edit": action(
    "documents.edit",
    z.object({ name: DocumentName, edits: DocumentEdits }),
    (run, { name, edits }, requestId) =>
      editDocument(run.context, { roomId: run.roomId, document: name }, edits, requestId),
    ({ name, edits: { edits, root, type } }) => ({ name, root, type, edits: edits.map(withoutAnchors) }),
  ),
  "actions.broadcasts.send": action("broadcasts.send", BroadcastData, (run, data, requestId) =>
    callRoom(run.context, run.roomId, "BROADCAST", data, { requestId }),
  ),
};
