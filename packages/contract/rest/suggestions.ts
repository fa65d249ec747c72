/** The bodies and answers of suggestions over REST. */
import * as z from "zod";
import { SUGGESTION_LIMITS } from "../suggestion-limits.ts";
import { text } from "../text.ts";
import { DocumentEdits, EDIT_LIMITS, Edit } from "./document-edits.ts";

/** A suggestion to make, with its first edits. */
export const SuggestionCreation = DocumentEdits.extend({
  title: text(1, SUGGESTION_LIMITS.titleLength)
    .optional()
    .meta({ description: "A few words for the reviewer." }),
  edits: z
    .array(Edit)
    .max(EDIT_LIMITS.edits)
    .default([])
    .meta({ description: "The first edits: all are made, or the suggestion is not." }),
})
  .strict()
  .meta({
    id: "SuggestionCreation",
    example: { title: "An ending", edits: [{ at: "end", insert: "A sentence." }] },
  });

/** The decision of a reviewer. */
export const SuggestionReview = z
  .strictObject({
    seq: z.int().min(0).meta({
      description: "The `seq` of the suggestion as you have read it: no one accepts what they have not seen.",
      example: 2,
    }),
    accept: z.union([z.literal("all"), z.array(text(1, 1024)).max(10_000)]).meta({
      description:
        "The IDs of parts, or `all`. The others are rejected; an empty list rejects all, also of a suggestion that is too large to be compared: the answer then has no parts.",
    }),
    comment: text(1, SUGGESTION_LIMITS.commentLength)
      .optional()
      .meta({ description: "A comment for the author." }),
  })
  .meta({ id: "SuggestionReview", example: { seq: 2, accept: "all" } });
