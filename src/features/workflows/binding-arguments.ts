/** What the methods of a run's bindings accept: programs may send anything. */
import * as z from "zod";
import { SHARED_TYPES } from "../../room/documents/updates/built-document.ts";
import { MAX_DOCUMENT_NAME_LENGTH } from "../../room/documents/updates/limits.ts";
import { Key, StoreName } from "../../room/protocol/message-fields.ts";
import { cleanName } from "../files/file-name.ts";
import { cleanType, parseTypeFilter } from "../files/storage/media-type.ts";

/** The largest file that a run may read or write: files pass through memory whole. */
export const MAX_RUN_FILE_BYTES = 8 * 1024 * 1024;

const ListFilter = z.strictObject({
  mimeType: z
    .string()
    .refine((type) => parseTypeFilter(type) !== null, "must be a media type such as image/png or image/*")
    .optional(),
  userId: z.string().max(255).optional(),
});

/** By method. */
export const ARGUMENTS = {
  "store.get": z.strictObject({ store: StoreName, key: Key }),
  "store.getAll": z.strictObject({ store: StoreName }),
  "room.get": z.strictObject({}),
  "room.getUsers": z.strictObject({}),
  "documents.list": z.strictObject({}),
  "documents.get": z.strictObject({
    name: z.string().min(1).max(MAX_DOCUMENT_NAME_LENGTH),
    content: z.strictObject({
      type: z.enum(SHARED_TYPES).default("text"),
      root: z.string().min(1).max(255).default("default"),
    }),
  }),
  "files.list": z.strictObject({ filter: ListFilter }),
  "files.get": z.strictObject({ key: z.string().max(1024) }),
  "files.put": z.strictObject({
    name: z
      .string()
      .transform((name) => cleanName(name))
      .refine((name) => name !== "", "must not be empty"),
    bytes: z
      .instanceof(Uint8Array)
      .refine(
        (bytes) => bytes.byteLength <= MAX_RUN_FILE_BYTES,
        `may have at most ${MAX_RUN_FILE_BYTES} bytes`,
      ),
    type: z
      .string()
      .optional()
      .transform((type) => cleanType(type)),
  }),
  "files.delete": z.strictObject({ key: z.string().max(1024) }),
  fetch: z.strictObject({
    request: z.custom<Request>((value) => value instanceof Request, "must be a Request"),
    redirect: z.enum(["follow", "manual", "error"]),
  }),
} as const;

export type Method = keyof typeof ARGUMENTS;
export type Arguments<M extends Method> = z.infer<(typeof ARGUMENTS)[M]>;
