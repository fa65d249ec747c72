/** The updates that a room records for inboxes, in the transaction of their change, and passes on afterwards. */

/** Inboxes that receive an update: of identities, and of members of groups except some. */
export interface Recipients {
  readonly to: readonly string[];
  readonly groups: readonly string[];
  readonly except: readonly string[];
}

/** An update for inboxes. For deletions, `to` also has shards, as each inbox there may know the content. */
export type InboxUpdate =
  | ({
      readonly type: "comment";
      readonly threadId: string;
      readonly commentId: string;
      /** Seq of the change that wrote the comment or its mentions. */
      readonly seq: number;
      /** Epoch milliseconds. */
      readonly at: number;
      /** The author's subject. */
      readonly by: string;
      /** The author's user, for guests; absent in updates of the version before. */
      readonly byUser?: string;
      /** Subjects that the comment mentions by name. */
      readonly mentioned?: readonly string[];
      /** Set if the thread has further subscribers: their IDs follow this one. */
      readonly after?: string;
    } & Recipients)
  | ({ readonly type: "threadDeleted"; readonly threadId: string } & Recipients)
  | ({
      readonly type: "commentsDeleted";
      readonly threadId: string;
      readonly commentIds: readonly string[];
    } & Recipients)
  | {
      readonly type: "textMention";
      readonly mentionId: string;
      readonly document: string | undefined;
      readonly subject: string;
      readonly at: number;
      /** The subject and the user of the author; null for the organization. */
      readonly by: string | null;
      readonly byUser?: string | null;
    }
  | { readonly type: "textMentionDeleted"; readonly mentionId: string; readonly subject: string }
  /** A reader has read a thread up to a seq. */
  | { readonly type: "read"; readonly threadId: string; readonly subject: string; readonly seq: number };
