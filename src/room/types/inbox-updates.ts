/** The updates that a room records for inboxes, in the transaction of their change, and passes on afterwards. */

/** Everyone whom an update concerns: subjects of readers, and the members of groups except some. */
export interface Recipients {
  readonly to: readonly string[];
  readonly groups: readonly string[];
  /** Subjects that do not want it as members. */
  readonly except: readonly string[];
}

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
      /** Null for the organization. */
      readonly by: string | null;
    }
  | { readonly type: "textMentionDeleted"; readonly mentionId: string; readonly subject: string }
  /** A reader has read a thread up to a seq. */
  | { readonly type: "read"; readonly threadId: string; readonly subject: string; readonly seq: number };
