/** Content as guests receive it: without mentioned identities, whom they could recognize in other rooms by their IDs. */
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Reader } from "@atrium/contract/resources/thread.ts";
import { JsonText } from "./frame.ts";
import type { Change, ServerEvent } from "./protocol.ts";

/** Most content mentions no identity: it need not be parsed. */
const mayMention = (text: string): boolean => text.includes('"mentioned":');

function commentForGuest({ mentioned, ...comment }: Comment): Comment {
  const groups = mentioned?.filter(({ kind }) => kind === "group") ?? [];
  return groups.length === 0 ? comment : { ...comment, mentioned: groups };
}

interface CommentData {
  readonly comment?: Comment;
  readonly comments?: readonly Comment[];
}

/** The data of a comment's event, or of the response to a request about comments. */
export function commentDataForGuest(data: object): object {
  const text = data instanceof JsonText ? data.text : JSON.stringify(data);
  if (!mayMention(text)) return data;
  const parsed = JSON.parse(text) as CommentData;
  return {
    ...parsed,
    ...(parsed.comment && { comment: commentForGuest(parsed.comment) }),
    ...(parsed.comments && { comments: parsed.comments.map(commentForGuest) }),
  };
}

/** The people of a thread: the users of the room alone, without their identities. */
export const readersForGuest = (readers: readonly Reader[]): Reader[] =>
  readers.flatMap(({ userId }) => (userId === null ? [] : { subject: userId, userId }));

const isOfComment = (event: string): boolean => event.startsWith("comment");

/** The event itself if guests may receive all of it. */
export function eventForGuest(message: ServerEvent): ServerEvent {
  if (!("seq" in message) || !isOfComment(message.event)) return message;
  const data = commentDataForGuest(message.data);
  return data === message.data ? message : { ...message, data };
}

/** Guest view of missed changes, as a JSON array. */
export function changesForGuest(changes: JsonText): JsonText {
  if (!mayMention(changes.text)) return changes;
  const shown = (JSON.parse(changes.text) as Change[]).map((change) =>
    isOfComment(change.event) ? { ...change, data: commentDataForGuest(change.data) } : change,
  );
  return new JsonText(JSON.stringify(shown));
}
