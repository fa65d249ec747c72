/** What a document says, on the wire. */
import * as z from "zod";
import type { Rendered } from "../../../room/documents/content/render-content.ts";
import { SHARED_TYPES } from "../../../room/documents/updates/built-document.ts";

/** A shared type of a document. */
export const SharedTypeName = z
  .object({
    name: z.string().meta({ example: "default" }),
    type: z.enum(SHARED_TYPES).meta({
      description: "What it seems to be, judged by what is in it: the document does not say it.",
      example: "text",
    }),
  })
  .meta({ id: "SharedType" });
export type SharedTypeName = z.infer<typeof SharedTypeName>;

/** The content of a shared type, and which others there are. */
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

export const presentContent = ({ content, isTruncated, types }: Rendered): DocumentContent => ({
  content,
  truncated: isTruncated,
  types: [...types],
});
