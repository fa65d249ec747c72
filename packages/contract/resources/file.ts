/** A file on the wire, and how it is presented. The SDK imports its types. */
import * as z from "zod";
import { presentTime, Timestamp } from "../time.ts";

export const MAX_FILE_BYTES = 100 * 1024 * 1024;

const EXAMPLE_KEY = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11/Zk3vX0qTn8mJt5yBwL2cRg/uploads/plan.png";
const EXAMPLE_URL = `https://atrium.example/v1/accounts/8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40/storage/${EXAMPLE_KEY}`;
export const EXAMPLE_FILE = {
  key: EXAMPLE_KEY,
  url: EXAMPLE_URL,
  filename: "plan.png",
  mimeType: "image/png",
  size: 48_213,
  uploadedAt: "2026-01-31T09:32:00.000Z",
  uploadedBy: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21",
};

const Key = z.string().meta({
  description: "Identifies the file. Anyone who knows the key can read the file.",
  example: EXAMPLE_KEY,
});
const Url = z.url().meta({ description: "Serves the file, without a credential.", example: EXAMPLE_URL });

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

export const UploadResult = z.object({ key: Key, url: Url }).meta({ id: "UploadResult" });
export type UploadResult = z.infer<typeof UploadResult>;

export interface FileRecord {
  readonly key: string;
  readonly accountId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number;
  readonly uploadedBy: string;
  /** Epoch milliseconds. */
  readonly uploadedAt: number;
}

/** The URL that serves the file to callers of the service at `origin`. */
export const fileUrl = (origin: string, accountId: string, key: string): string =>
  `${origin}/v1/accounts/${accountId}/storage/${key.split("/").map(encodeURIComponent).join("/")}`;

export const presentFile = (file: FileRecord, origin: string): StorageFile => ({
  key: file.key,
  url: fileUrl(origin, file.accountId, file.key),
  filename: file.filename,
  mimeType: file.mimeType,
  size: file.size,
  uploadedAt: presentTime(file.uploadedAt),
  uploadedBy: file.uploadedBy,
});
