/** Bodies of comments over REST. */
import type * as z from "zod";
import { text, updateOf } from "../../platform/text.ts";
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

/** Body of `PATCH /rooms/:roomId/comments/:commentId`. */
export const CommentUpdate = updateOf(CommentEdit.shape).meta({
  id: "CommentUpdate",
  example: { resolved: true },
});
export type CommentUpdateInput = z.input<typeof CommentUpdate>;
