/** What differs between two versions of a document, on the wire. */
import * as z from "zod";
import type { Change } from "../../../room/documents/compare/compare.ts";
import type { Segment } from "../../../room/documents/compare/segments.ts";
import { DocumentAuthor, presentAuthor } from "./author-schema.ts";

const authors = z.array(DocumentAuthor).meta({
  description: "Whose change it is: several if that is only known of all of them, none if it is not known.",
});

/** A stretch of a text that was kept, inserted, deleted, or kept with another formatting. */
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

/** Something that differs. Applied one by one, in their order, changes lead from one version to the other. */
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

const presentSegment = ({ authors, ...segment }: Segment): DocumentSegment => ({
  ...segment,
  authors: authors.map(presentAuthor),
});

export const presentChange = ({ path, segments, authors, ...change }: Change): DocumentChange => ({
  ...{ path: [...path], ...change },
  segments: segments === null ? null : segments.map(presentSegment),
  authors: authors.map(presentAuthor),
});
