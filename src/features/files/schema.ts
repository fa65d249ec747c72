/** Files on the wire, and their presenter. The SDK imports its types. */
import * as z from "zod";
import { text } from "../../platform/text.ts";
import { presentTime, Timestamp } from "../../platform/time.ts";
import { urlOf } from "./file-key.ts";
import type { FoundRow } from "./storage/find-store.ts";
import type { FileRow } from "./storage/table.ts";

/** The size limit of a file, in bytes. */
export const MAX_FILE_BYTES = 100 * 1024 * 1024;

const EXAMPLE_ROOM = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11";
const EXAMPLE_KEY = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11/Zk3vX0qTn8mJt5yBwL2cRg/uploads/plan.png";
const EXAMPLE_URL = `https://atrium.example/v1/accounts/8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40/storage/${EXAMPLE_KEY}`;
const EXAMPLE_FILE = {
  ...{ key: EXAMPLE_KEY, url: EXAMPLE_URL, filename: "plan.png", mimeType: "image/png", size: 48_213 },
  uploadedAt: "2026-01-31T09:32:00.000Z",
  uploadedBy: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21",
};

const Key = z.string().meta({
  description: "Identifies the file. Anyone who knows the key can read the file.",
  example: EXAMPLE_KEY,
});
const Url = z.url().meta({ description: "Serves the file, without a credential.", example: EXAMPLE_URL });

/** A file (spec section 2). */
export const StorageFile = z
  .object({
    key: Key,
    url: Url,
    filename: z.string().meta({ description: "The uploaded name, cleaned; the key ends with it." }),
    mimeType: z.string().meta({ description: "As declared by the upload; not verified." }),
    size: z.int().meta({ description: "In bytes.", minimum: 0, maximum: MAX_FILE_BYTES }),
    uploadedAt: Timestamp,
    uploadedBy: z
      .string()
      .meta({ description: "The user who uploaded it, or `workflow:` and the id of the workflow." }),
  })
  .meta({ id: "StorageFile", example: EXAMPLE_FILE });
export type StorageFile = z.infer<typeof StorageFile>;

/** A file that a search in all rooms has found. */
export const FoundFile = StorageFile.extend({
  roomId: z.uuid(),
  roomName: z.string(),
  uploaderName: z.string().nullable().meta({ description: "`null` for a file of a workflow." }),
}).meta({
  id: "FoundFile",
  example: { ...EXAMPLE_FILE, roomId: EXAMPLE_ROOM, roomName: "Planning", uploaderName: "Ada" },
});
export type FoundFile = z.infer<typeof FoundFile>;

/** The result of an upload (spec section 2). */
export const UploadResult = z.object({ key: Key, url: Url }).meta({ id: "UploadResult" });
export type UploadResult = z.infer<typeof UploadResult>;

/** The fields of an upload's form, without its file. */
export const UploadFields = z.strictObject({
  roomId: text(1, 255).meta({ description: "The file's room." }),
  userId: text(1, 255).meta({ description: "The uploader, a user of the room." }),
});
export type UploadFields = z.infer<typeof UploadFields>;

/** Body of `DELETE /upload`. */
export const FileDeletion = z
  .strictObject({ key: text(1, 1024).meta({ description: "The key that the upload returned." }) })
  .meta({ id: "FileDeletion", example: { key: EXAMPLE_KEY } });

/** Presents a stored file to a caller that reached the service at `origin`. */
export const presentFile = (row: FileRow, origin: string): StorageFile => ({
  key: row.key,
  url: urlOf(origin, row.accountId, row.key),
  filename: row.filename,
  mimeType: row.mimeType,
  size: row.size,
  uploadedAt: presentTime(row.uploadedAt),
  uploadedBy: row.uploadedBy,
});

export const presentFound = (
  { roomId, roomName, uploaderName, ...row }: FoundRow,
  origin: string,
): FoundFile => ({
  ...presentFile({ ...row, roomId }, origin),
  ...{ roomId, roomName, uploaderName },
});
