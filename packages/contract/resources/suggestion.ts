/** Suggestions on the wire: changes of a document that their author proposes, and that others review part by part. */
import * as z from "zod";
import { Timestamp } from "../time.ts";
import { DocumentAuthor } from "./author.ts";

export const SuggestionStatus = z.enum(["pending", "approved", "rejected", "stale"]).meta({
  id: "SuggestionStatus",
  description:
    "`approved`: some of its parts were accepted. `rejected`: none was. `stale`: it is pending, and nothing of it fits the document any more; lists say `pending` of these.",
});
export type SuggestionStatus = z.infer<typeof SuggestionStatus>;

export const Suggestion = z
  .object({
    id: z.uuid(),
    document: z.string().meta({ description: "The document's name.", example: "notes" }),
    fork: z.string().meta({
      description: "The name of the document to open for the suggestion. It is gone once it is reviewed.",
      example: "~suggestions/5b1f6c1e-2d0a-4a57-9a3c-7f0e4a1d2c3b",
    }),
    title: z.string().nullable().meta({ description: "Null without one.", example: "Shorter introduction" }),
    status: SuggestionStatus,
    author: DocumentAuthor.meta({ description: "The one who writes into the fork." }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({
      description: "When its author last wrote into it, or when it was reviewed.",
    }),
    reviewed_by: DocumentAuthor.nullable().meta({
      description: "Null before the review, and after the erasure of its reviewer.",
    }),
    reviewed_at: Timestamp.nullable().meta({ description: "Null before the review." }),
    comment: z.string().nullable().meta({ description: "The reviewer's comment.", example: null }),
  })
  .meta({ id: "Suggestion" });
export type Suggestion = z.infer<typeof Suggestion>;

const text = z.string();

/** One change of a suggestion, which is accepted or rejected as a whole. */
export const SuggestedPart = z
  .object({
    id: z.string().meta({
      description: "Names its changes: it stays the same while its author writes elsewhere.",
      example: "i3-7",
    }),
    kind: z.enum(["insert", "delete", "replace", "format", "set"]).meta({
      description: "`format`: of text that stays. `set`: an attribute, or an entry of a map.",
    }),
    state: z.enum(["pending", "stale", "accepted", "rejected"]).meta({
      description:
        "`stale`: its text went from the document, or it would drop what others wrote; it can be accepted no more.",
    }),
    root: z.string().meta({ description: "The name of the shared type.", example: "default" }),
    path: z.array(z.union([z.string(), z.int()])).meta({
      description: "Keys of maps and positions of elements, beginning in the shared type.",
      example: [],
    }),
    before: text.nullable().meta({
      description:
        "Its text before, as XML where there are elements or formats, or the JSON of a value; null for none.",
      example: "the old name",
    }),
    after: text.nullable().meta({ description: "Its text after, likewise.", example: "the new name" }),
    context: z
      .object({
        before: text.meta({ description: "Up to 40 unchanged characters before it.", example: "This is " }),
        after: text.meta({ description: "Up to 40 unchanged characters after it.", example: "." }),
      })
      .meta({ description: "The unchanged text around it." }),
  })
  .meta({ id: "SuggestedPart" });
export type SuggestedPart = z.infer<typeof SuggestedPart>;
