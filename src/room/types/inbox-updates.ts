/** The updates that a room records for inboxes, in the transaction of their change, and passes on afterwards. */

/** The inboxes that an update concerns: those of identities, and of the members of groups except some. */
export interface Recipients {
  readonly to: readonly string[];
  readonly groups: readonly string[];
  readonly except: readonly string[];
}

/** Of what was deleted, `to` also has shards of inboxes: each inbox there may know it. */
export type InboxUpdate =
  | ({
      readonly type: "comment";
      readonly threadId: string;
      readonly commentId: string;
      /** Of the change that wrote it, or whose mentions it is about. */
      readonly seq: number;
      /** Epoch milliseconds. */
      readonly at: number;
      /** The author's subject. */
      readonly by: string;
      /** The author's user, for guests; absent in updates of the version before. */
      readonly byUser?: string;
      /** Those whom it mentions by name. */
      readonly mentioned?: readonly string[];
      /** The thread has further subscribers, whose IDs come behind this one. */
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
