/** Operations on comments. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { Comment } from "../resources/comment.ts";
import { Mention } from "../resources/thread.ts";
import { text, updateOf } from "../text.ts";
import { expensiveRead, innerOperation, LASTING, operation, POINTS_PER_READ, WRITE } from "./operation.ts";
import { Id, optionalJson } from "./values.ts";

/** The fields that an author writes, and may edit. */
const written = {
  text: text(1, LIMITS.commentLength).meta({ description: "1 to 10,000 characters." }),
  anchor: optionalJson(LIMITS.anchorBytes).meta({
    description: "The subject of the comment, such as a position in a document: any JSON.",
  }),
  metadata: optionalJson(LIMITS.commentMetadataBytes).meta({
    description:
      "Data of your application that is kept with the comment: any JSON of up to 32 KiB. In an edit, `null` removes it.",
  }),
};
const Mentions = z
  .array(z.union([Id, Mention.extend({ id: Id }).strict()]))
  .max(LIMITS.mentions)
  .meta({
    description:
      'Users of the room by their IDs, and identities and groups as `{ kind: "user" | "group", id }`.',
  });

export const CommentCreation = z.object({
  ...written,
  threadId: Id.optional().meta({
    description: "The thread to reply in. Without it, the comment starts a thread.",
  }),
  mentions: Mentions.default([]),
});
export type CommentCreation = z.infer<typeof CommentCreation>;
export type NewComment = z.input<typeof CommentCreation>;

export const CommentEdit = z.object({ ...written, mentions: Mentions, resolved: z.boolean() }).partial();
export type CommentEdit = z.infer<typeof CommentEdit>;
export type CommentChanges = z.input<typeof CommentEdit>;

/** The body of a comment over REST, which names its author. */
export const CommentPost = CommentCreation.extend({
  userId: text(1, 255).meta({ description: "The author, a user of the room." }),
})
  .strict()
  .meta({
    id: "CommentPost",
    example: { text: "Shall we move this up?", userId: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" },
  });
export type CommentPost = z.infer<typeof CommentPost>;
export type CommentInput = z.input<typeof CommentPost>;

/** A reaction to a comment, or its end. */
const Reaction = z.object({
  reaction: text(1, LIMITS.reactionLength).meta({ description: "An emoji, or any short text." }),
  on: z.boolean().default(true).meta({ description: "`false` takes the reaction back." }),
});

/** The body of a reaction over REST, which names the one who reacts. */
export const CommentReaction = Reaction.extend({
  userId: text(1, 255).meta({ description: "The one who reacts, a user of the room." }),
})
  .strict()
  .meta({
    id: "CommentReaction",
    example: { reaction: "👍", userId: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" },
  });
export type CommentReaction = z.infer<typeof CommentReaction>;

/** Body of `PATCH /rooms/:roomId/comments/:commentId`. */
export const CommentUpdate = updateOf(CommentEdit.shape).meta({
  id: "CommentUpdate",
  example: { resolved: true },
});
export type CommentUpdateInput = z.input<typeof CommentUpdate>;

/** The comments of a list: all of them without a field. */
export const CommentFilter = z.object({ threadId: Id.optional(), resolved: z.boolean().optional() });
export type CommentFilter = z.infer<typeof CommentFilter>;

const CommentPage = CommentFilter.extend({
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});
export type CommentPage = z.infer<typeof CommentPage>;

const CommentSearch = CommentFilter.extend({
  /** Folded. */
  search: z.string(),
  after: z.int(),
});

const isSet = (filter: CommentFilter): boolean => Object.values(filter).some((value) => value !== undefined);

/** Rows for a filter, because all matching comments are counted. */
export const COUNTED_COMMENTS = 100;

/** Mentions add a read of the database and a row for each reader. */
const rowsOfComment = ({ mentions = [] }: Pick<CommentEdit, "mentions">): number =>
  WRITE.rows + (mentions.length === 0 ? 0 : POINTS_PER_READ + mentions.length);

const rowsOfComments = ({ after, limit, offset, ...filter }: CommentPage): number =>
  limit + offset / 20 + (isSet(filter) ? COUNTED_COMMENTS : 0);

export const unnotified = z.array(z.string()).optional().meta({
  description:
    "The mentioned users, identities and groups that do not exist or may not read the room, those that a guest can not mention, and agents, or groups of such, that are not woken: their chain is too deep, a budget is spent, or there are too many. Absent without any.",
});

const commentId = Id;
const comments = z.array(Comment).readonly();
/** The position behind which the next page begins; null at the end. */
const next = z.int().nullable();
const one = () => z.object({ comment: Comment });
const withUnnotified = () => z.object({ comment: Comment, unnotified });

export const COMMENT_OPERATIONS = {
  COMMENT_LIST: operation({
    done: "Comments retrieved",
    input: () => CommentPage,
    output: () => z.object({ comments, total: z.int(), next, limit: z.int(), offset: z.int() }),
    right: "read",
    cost: expensiveRead(rowsOfComments),
  }),
  COMMENT_SEARCH: innerOperation({
    done: "Comments searched",
    input: () => CommentSearch,
    output: () => z.object({ comments, positions: z.array(z.int()).readonly(), next }),
    cost: expensiveRead(1_000),
    right: "read",
  }),
  COMMENTS_GET: innerOperation({
    done: "Comments retrieved",
    input: () => z.object({ commentIds: z.array(z.string()).readonly() }),
    output: () => z.object({ comments }),
    cost: expensiveRead<{ readonly commentIds: readonly string[] }>(({ commentIds }) => commentIds.length),
    right: "read",
  }),
  COMMENT_CREATE: operation({
    done: "Comment created",
    input: () => CommentCreation,
    output: withUnnotified,
    right: "comments:write",
    cost: { ...WRITE, rows: rowsOfComment },
    isLasting: true,
    isReported: true,
  }),
  COMMENT_UPDATE: operation({
    done: "Comment updated",
    input: () => CommentEdit.extend({ commentId }),
    output: withUnnotified,
    right: "comments:write",
    cost: { ...WRITE, rows: rowsOfComment },
    isLasting: true,
    isReported: true,
  }),
  COMMENT_DELETE: operation({
    done: "Comment deleted",
    input: () => z.object({ commentId }),
    output: one,
    right: "comments:write",
    ...LASTING,
    isReported: true,
  }),
  COMMENT_RESOLVE: operation({
    done: "Comment updated",
    input: () => z.object({ commentId, resolved: z.boolean().default(true) }),
    output: one,
    right: "comments:write",
    ...LASTING,
    isReported: true,
  }),
  COMMENT_REACT: operation({
    done: "Comment updated",
    input: () => Reaction.extend({ commentId }),
    output: one,
    right: "comments:write",
    ...LASTING,
  }),
} as const;
