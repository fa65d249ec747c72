/** Files on the wire. The SDK imports its types. */

import * as z from "zod";
import { EXAMPLE_FILE, StorageFile } from "../resources/file.ts";
import { text } from "../text.ts";

const EXAMPLE_ROOM = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11";

export const FoundFile = StorageFile.extend({
  roomId: z.uuid(),
  roomName: z.string(),
  uploaderName: z.string().nullable().meta({ description: "`null` for a file of a workflow." }),
}).meta({
  id: "FoundFile",
  example: { ...EXAMPLE_FILE, roomId: EXAMPLE_ROOM, roomName: "Planning", uploaderName: "Ada" },
});
export type FoundFile = z.infer<typeof FoundFile>;

export const UploadFields = z.strictObject({
  roomId: text(1, 255).meta({ description: "The file's room." }),
  userId: text(1, 255).meta({ description: "The uploader, a user of the room." }),
});
export type UploadFields = z.infer<typeof UploadFields>;

export const FileDeletion = z
  .strictObject({ key: text(1, 1024).meta({ description: "The key that the upload returned." }) })
  .meta({ id: "FileDeletion", example: { key: EXAMPLE_FILE.key } });
