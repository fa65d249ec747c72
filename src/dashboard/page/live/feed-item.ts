/** A broadcast, or a write to a store, as a room sends it to everyone. */
export type FeedItem =
  | { readonly type: "broadcast"; readonly event: string; readonly data: unknown; readonly by: string | null }
  | {
      readonly type: "write";
      readonly store: string;
      readonly key: string;
      readonly isDeletion: boolean;
      readonly value: unknown;
      /** The user; null for a back end. */
      readonly by: string | null;
    };
