/** What the application chooses for all keepers of its clients. */
import type { AtriumError, DiscardedWrite } from "../client/index.ts";
import type { OfflineStorage } from "./storage.ts";

/** A write of an earlier page that was refused, or whose outcome is unknown. */
export interface RejectedWrite extends DiscardedWrite {
  readonly roomId: string;
  readonly error: AtriumError;
}

export interface KeeperOptions {
  readonly storage: OfflineStorage;
  readonly includes: (store: string) => boolean;
  readonly onRejected: (write: RejectedWrite) => void;
  readonly onError: (error: AtriumError) => void;
}
