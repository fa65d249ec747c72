/** What clients send about comments, as zod schemas. */
import * as z from "zod";
import { text } from "../../platform/text.ts";
import * as limits from "./limits.ts";
import { Id } from "./message-fields.ts";

export const CommentText = text(1, limits.MAX_COMMENT_LENGTH);
const Mentions = z.array(Id).max(limits.MAX_MENTIONS);

/** The fields of a new comment; `anchor` is what the comment is about, in the client's own format. */
export const CommentCreation = z.object({
  text: CommentText,
  threadId: Id.optional(),
  anchor: z.unknown().optional(),
  mentions: Mentions.default([]),
});
export type CommentCreation = z.infer<typeof CommentCreation>;

export const CommentEdit = z.object({ text: CommentText.optional(), resolved: z.boolean().optional() });

export const CommentPage = z.object({
  threadId: Id.optional(),
  resolved: z.boolean().optional(),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});
export type CommentPage = z.infer<typeof CommentPage>;
