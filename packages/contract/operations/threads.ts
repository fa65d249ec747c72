/** Operations on threads, read positions, subscriptions, and mentions in documents. */
import * as z from "zod";
import { DOCUMENT_LIMITS } from "../document-limits.ts";
import { LIMITS } from "../limits.ts";
import { SubscriptionSettings, Thread } from "../resources/thread.ts";
import { segment, text } from "../text.ts";
import { COUNTED_COMMENTS, unnotified } from "./comments.ts";
import { expensiveRead, innerOperation, LASTING, operation, WRITE } from "./operation.ts";
import { Id, Nothing, Seq } from "./values.ts";

/** A person who is mentioned inside a document: a user of the room or an identity, by its ID. */
export const TextMention = z.object({
  mentionId: segment(LIMITS.idLength),
  userId: Id,
  document: text(1, DOCUMENT_LIMITS.documentNameLength).optional(),
});

/** The place of a thread in lists, behind which the next page begins. */
const ThreadPlace = z.object({ last_seq: Seq, id: Id });

/** The threads of a list: all of them without a field. */
export const ThreadFilter = z
  .object({
    resolved: z.boolean(),
    unread: z.boolean().meta({ description: "Threads with comments that you have not read." }),
    subscribed: z.boolean().meta({ description: "Threads of which you are notified." }),
  })
  .partial();
export type ThreadFilter = z.infer<typeof ThreadFilter>;

const ThreadPage = ThreadFilter.extend({
  after: ThreadPlace.optional(),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});
export type ThreadPage = z.infer<typeof ThreadPage>;

const rowsOfThreads = ({ after, limit, offset, ...filter }: ThreadPage): number =>
  2 * limit +
  offset / 20 +
  Object.values(filter).filter((value) => value !== undefined).length * COUNTED_COMMENTS;

/** A reader of a thread. */
const Participant = z.object({ subject: z.string(), userId: z.string().nullable() });

const threadId = Id;
const one = () => z.object({ thread: Thread });

export const THREAD_OPERATIONS = {
  THREAD_LIST: operation({
    done: "Threads retrieved",
    input: () => ThreadPage,
    output: () =>
      z.object({
        threads: z.array(Thread).readonly(),
        total: z.int(),
        next: ThreadPlace.nullable(),
        limit: z.int(),
        offset: z.int(),
      }),
    right: "read",
    cost: expensiveRead(rowsOfThreads),
  }),
  THREAD_GET: operation({
    done: "Thread retrieved",
    input: () => z.object({ threadId }),
    output: one,
    right: "read",
    cost: { ...WRITE, rows: 1 },
  }),
  THREAD_PARTICIPANTS: innerOperation({
    done: "Participants retrieved",
    input: () => z.object({ threadId }),
    output: () => z.object({ participants: z.array(Participant).readonly() }),
    cost: expensiveRead(COUNTED_COMMENTS),
    right: "read",
  }),
  THREAD_SUBSCRIBE: operation({
    done: "Subscription changed",
    input: () => z.object({ threadId, on: z.boolean().default(true) }),
    output: one,
    right: "own:write",
    ...LASTING,
  }),
  THREAD_READ: operation({
    done: "Thread read",
    input: () => z.object({ threadId, seq: Seq.optional() }),
    output: one,
    right: "read",
    ...LASTING,
  }),
  THREAD_RESOLVE: innerOperation({
    done: "Thread updated",
    input: () => z.object({ threadId, resolved: z.boolean() }),
    output: one,
    ...LASTING,
    right: "comments:write",
    isReported: true,
  }),
  THREAD_DELETE: innerOperation({
    done: "Thread deleted",
    input: () => z.object({ threadId }),
    output: one,
    ...LASTING,
    right: "organization",
    isReported: true,
  }),
  SUBSCRIPTION_SETTINGS: operation({
    done: "Settings retrieved",
    input: () => SubscriptionSettings.partial(),
    output: () => z.object({ settings: SubscriptionSettings }),
    right: (changes) => (Object.keys(changes).length > 0 ? "own:write" : "read"),
    ...LASTING,
  }),
  TEXT_MENTION_CREATE: operation({
    done: "Mention created",
    input: () => TextMention,
    output: () => z.object({ unnotified }),
    right: "documents:write",
    cost: { ...WRITE, reads: 1 },
    isLasting: true,
  }),
  TEXT_MENTION_DELETE: operation({
    done: "Mention deleted",
    input: () => TextMention.omit({ document: true }),
    output: () => Nothing,
    right: "documents:write",
    cost: { ...WRITE, reads: 1 },
    isLasting: true,
  }),
} as const;
