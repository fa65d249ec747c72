/** The history of a document on the wire: its trail and its versions. */
import * as z from "zod";
import { presentTime } from "../../../platform/time.ts";
import type { TrailEntry as StoredEntry, VersionInfo } from "../../../room/port/document-history.ts";
import { DocumentAuthor, presentAuthor } from "./author-schema.ts";

/** What one author wrote in a row, within a minute; of what is a month old, what was written between two versions. */
export const TrailEntry = z
  .object({
    author: DocumentAuthor.nullable().meta({ description: "Null when several wrote it." }),
    authors: z.array(DocumentAuthor).meta({ description: "Who wrote it: up to 100 of them." }),
    first_at: z.iso.datetime().meta({ description: "When the first of its updates arrived." }),
    last_at: z.iso.datetime().meta({ description: "When the last of its updates arrived." }),
    seq: z.int().meta({ description: "The number of the last of its updates.", minimum: 1, example: 17 }),
    updates: z.int().meta({ description: "How many updates it has.", minimum: 1, example: 12 }),
    bytes: z.int().meta({ description: "Encoded.", minimum: 0, example: 96 }),
  })
  .meta({ id: "TrailEntry" });
export type TrailEntry = z.infer<typeof TrailEntry>;

/** A point in a document's history: the document as it was after an update. */
export const DocumentVersion = z
  .object({
    version: z
      .int()
      .meta({ description: "The number of the latest update that it has.", minimum: 1, example: 17 }),
    name: z
      .string()
      .nullable()
      .meta({ description: "Null for one that the room made by itself.", example: "Draft" }),
    named_by: DocumentAuthor.nullable(),
    authors: z
      .array(DocumentAuthor)
      .meta({ description: "Who wrote since the version before: up to 100 of them." }),
    updated_at: z.iso.datetime().meta({ description: "When its latest update arrived." }),
    created_at: z.iso.datetime().meta({ description: "When the version was made." }),
  })
  .meta({ id: "DocumentVersion" });
export type DocumentVersion = z.infer<typeof DocumentVersion>;

export const presentEntry = ({ authors, firstAt, at, seq, updates, bytes }: StoredEntry): TrailEntry => ({
  author: authors[0] === undefined || authors.length > 1 ? null : presentAuthor(authors[0]),
  authors: authors.map(presentAuthor),
  first_at: presentTime(firstAt),
  last_at: presentTime(at),
  seq,
  updates,
  bytes,
});

export const presentVersion = ({
  seq,
  name,
  namedBy,
  authors,
  at,
  createdAt,
}: VersionInfo): DocumentVersion => ({
  version: seq,
  name,
  named_by: namedBy && presentAuthor(namedBy),
  authors: authors.map(presentAuthor),
  updated_at: presentTime(at),
  created_at: presentTime(createdAt),
});
