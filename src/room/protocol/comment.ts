/** Bodies of comments over REST. */
import type * as z from "zod";
import { text } from "../../platform/text.ts";
import { CommentCreation, CommentEdit } from "./messages.ts";

export const CommentPost = CommentCreation.extend({
  userId: text(1, 255).meta({ description: "The author, a user of the room." }),
})
  .strict()
  .meta({
    id: "CommentPost",
    example: { text: "Shall we move this up?", userId: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" },
  });
export type CommentInput = z.input<typeof CommentPost>;

/** Body of `PATCH /rooms/:roomId/comments/:commentId`: at least one field. */
export const CommentUpdate = CommentEdit.strict()
  .refine(
    (edit) => Object.values(edit).some((field) => field !== undefined),
    "at least one of text, metadata, mentions, resolved is required",
  )
  .meta({ id: "CommentUpdate", example: { resolved: true }, minProperties: 1 });
export type CommentUpdateInput = z.input<typeof CommentUpdate>;
