/** Documents on the wire: what a room's list says of each, and what is said of one. */
import * as z from "zod";
import { presentTime } from "../../../platform/time.ts";
import type {
  DocumentDetails as DescribedDocument,
  ListedDocument,
} from "../../../room/port/room-documents.ts";

/** Of each document. */
const MAX_LISTED_PARTICIPANTS = 20;

/** A document, how large it is, and who has it open. */
export const DocumentSummary = z
  .object({
    name: z.string().meta({ example: "notes" }),
    bytes: z.int().meta({ description: "Encoded, without the history.", minimum: 0, example: 4096 }),
    seq: z.int().meta({ description: "The number of the latest update.", minimum: 0, example: 17 }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    participants: z.int().meta({ description: "How many users have it open.", minimum: 0, example: 1 }),
    participant_ids: z.array(z.string()).meta({
      description: `Who they are: up to ${MAX_LISTED_PARTICIPANTS} of them.`,
      example: ["ada"],
    }),
  })
  .meta({ id: "Document" });
export type DocumentSummary = z.infer<typeof DocumentSummary>;

/** A document with what it has of history. */
export const DocumentDetails = DocumentSummary.extend({
  versions: z.int().meta({ description: "How many versions are kept of it.", minimum: 0, example: 3 }),
  stored_bytes: z.int().meta({
    description:
      "In storage, with the history: what it counts for in the room's limit and in the quota `store_bytes`.",
    minimum: 0,
    example: 12_288,
  }),
}).meta({ id: "DocumentDetails" });
export type DocumentDetails = z.infer<typeof DocumentDetails>;

export const presentDocument = (document: ListedDocument): DocumentSummary => ({
  name: document.name,
  bytes: document.bytes,
  seq: document.seq,
  created_at: presentTime(document.createdAt),
  updated_at: presentTime(document.updatedAt),
  participants: document.userIds.length,
  participant_ids: document.userIds.slice(0, MAX_LISTED_PARTICIPANTS),
});

export const presentDetails = (document: DescribedDocument): DocumentDetails => ({
  ...presentDocument(document),
  versions: document.versions,
  stored_bytes: document.storedBytes,
});
