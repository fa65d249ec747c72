/** Documents on the wire: summaries, content, comparisons and history. */

import * as z from "zod";
import { DocumentAuthor } from "../resources/author.ts";
import { SHARED_TYPES } from "../shared-types.ts";

export const wholeNumber = z
  .string()
  .refine((value) => /^[0-9]{1,15}$/.test(value), "must be a whole number")
  .transform(Number);

export const version = wholeNumber.optional().meta({
  description: "The number of a version, to read that instead of the document as it is.",
  override: { type: "integer", minimum: 1 },
});

/** An author, to name one. */
export const NamedAuthor = z
  .strictObject({
    type: z
      .enum(["user", "key", "person", "workflow"])
      .meta({ description: "As in the trail: a user, an API key, a member, or a workflow." }),
    id: z.string().min(1).max(255),
  })
  .meta({ id: "NamedAuthor" });

export const MAX_LISTED_PARTICIPANTS = 20;

export const DocumentSummary = z
  .object({
    name: z.string().meta({ example: "notes" }),
    bytes: z.int().meta({ description: "Encoded, without the history.", minimum: 0, example: 4096 }),
    seq: z.int().meta({ description: "The number of the latest update.", minimum: 0, example: 17 }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    participants: z
      .int()
      .meta({ description: "The number of users who have the document open.", minimum: 0, example: 1 }),
    participant_ids: z.array(z.string()).meta({
      description: `The IDs of up to ${MAX_LISTED_PARTICIPANTS} of these users.`,
      example: ["ada"],
    }),
  })
  .meta({ id: "Document" });
export type DocumentSummary = z.infer<typeof DocumentSummary>;

export const DocumentDetails = DocumentSummary.extend({
  versions: z.int().meta({ description: "The number of versions that are kept.", minimum: 0, example: 3 }),
  stored_bytes: z.int().meta({
    description:
      "In storage, with the history: what it counts for in the room's limit and in the quota `store_bytes`.",
    minimum: 0,
    example: 12_288,
  }),
}).meta({ id: "DocumentDetails" });
export type DocumentDetails = z.infer<typeof DocumentDetails>;

export const SharedTypeName = z
  .object({
    name: z.string().meta({ example: "default" }),
    type: z.enum(SHARED_TYPES).meta({
      description: "The probable kind, judged by the content: the document does not name it.",
      example: "text",
    }),
  })
  .meta({ id: "SharedType" });
export type SharedTypeName = z.infer<typeof SharedTypeName>;

/** The content of a shared type, and the other shared types. */
export const DocumentContent = z
  .object({
    content: z.unknown().meta({ description: "Text or JSON.", example: "Hello" }),
    truncated: z.boolean().meta({ description: "Whether it was cut off at `maxLength`.", example: false }),
    types: z
      .array(SharedTypeName)
      .meta({ description: "All shared types of the document that have, or had, content, by name." }),
  })
  .meta({ id: "DocumentContent" });
export type DocumentContent = z.infer<typeof DocumentContent>;

const authors = z.array(DocumentAuthor).meta({
  description: "The authors of the change: several if only all of them are known, none if they are unknown.",
});

/** A stretch of text that was kept, inserted, deleted, or formatted in another way. */
export const DocumentSegment = z
  .object({
    op: z
      .enum(["keep", "insert", "delete", "format"])
      .meta({ description: "`format`: the same text with another formatting." }),
    kind: z.enum(["text", "tag", "embed"]).meta({
      description:
        "Characters, the opening or closing tag of an XML element, or JSON that is embedded in the text.",
    }),
    text: z.string().meta({ example: "Hello" }),
    authors,
  })
  .meta({ id: "DocumentSegment" });
export type DocumentSegment = z.infer<typeof DocumentSegment>;

/** A difference. Applied in their order, changes lead from one version to the other. */
export const DocumentChange = z
  .object({
    path: z.array(z.union([z.string(), z.int()])).meta({
      description:
        "Keys of maps and positions in arrays, beginning in the shared type; empty for the type itself.",
      example: ["tasks", 0],
    }),
    op: z.enum(["insert", "delete", "replace", "edit"]).meta({
      description: "`edit`: of a text or XML. Entries of arrays are inserted and deleted at their position.",
    }),
    before: z.unknown().meta({ description: "The value in `from`; null if there was none." }),
    after: z
      .unknown()
      .meta({ description: "The value in `to`; null if there is none.", example: "Buy milk" }),
    segments: z.array(DocumentSegment).nullable().meta({
      description:
        "Of `edit`, the whole text in its order: without `insert` it is that of `from`, without `delete` that of `to`.",
    }),
    authors,
  })
  .meta({ id: "DocumentChange" });
export type DocumentChange = z.infer<typeof DocumentChange>;

/** Edits of one author within a minute; old ones are all edits between two versions. */
export const TrailEntry = z
  .object({
    author: DocumentAuthor.nullable().meta({ description: "Null when several wrote it." }),
    authors: z.array(DocumentAuthor).meta({ description: "Up to 100 authors." }),
    first_at: z.iso.datetime().meta({ description: "When the first of its updates arrived." }),
    last_at: z.iso.datetime().meta({ description: "When the last of its updates arrived." }),
    seq: z.int().meta({ description: "The number of the last of its updates.", minimum: 1, example: 17 }),
    updates: z.int().meta({ description: "The number of updates.", minimum: 1, example: 12 }),
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
    authors: z.array(DocumentAuthor).meta({ description: "Up to 100 authors since the version before." }),
    updated_at: z.iso.datetime().meta({ description: "When its latest update arrived." }),
    created_at: z.iso.datetime().meta({ description: "When the version was made." }),
  })
  .meta({ id: "DocumentVersion" });
export type DocumentVersion = z.infer<typeof DocumentVersion>;
