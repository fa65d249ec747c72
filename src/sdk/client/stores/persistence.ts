/** The port through which stores and their writes are kept on the device: `atrium/offline` implements it. */
import type { AtriumError, Fault } from "../../core/error.ts";
import type { KeptBatch, QueuedWrite } from "./waiting-writes.ts";
import type { Written } from "./writes.ts";

/** Follows the stores and the queue of one client. None of its functions throws, and no promise is rejected. */
export interface StorePersistence {
  /** Settles when everything that was kept is shown, or cannot be read. */
  readonly shown: Promise<void>;
  /** Settles with it or, on a slow device, when the client should wait no longer. */
  readonly opened: Promise<void>;
  /** The room's entry of a key may have changed or, without a key, the whole store was loaded. */
  confirmed(store: string, key?: string): void;
  /** A write was added to the queue, or has changed there. */
  queued(write: QueuedWrite): void;
  /** A batch has got the id under which it will be sent: once the promise settles. Promises settle in their order. */
  sealed(batch: KeptBatch): Promise<void>;
  /** Begins to store, at once, what is not stored yet, because the page may end. Returns whether it can be stored. */
  flush(): boolean;
  /** The room has answered a write. */
  settled(write: QueuedWrite, outcome: Written | AtriumError): void;
  /** The connection has ended for good. Returns whether the writes that are not answered stay kept. */
  stopped(fault: Fault): boolean;
}
