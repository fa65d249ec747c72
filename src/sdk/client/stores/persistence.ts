/** The port through which stores and their writes are kept on the device: `atrium/offline` implements it. */
import type { AtriumError, Fault } from "../../core/error.ts";
import type { KeptBatch, QueuedWrite } from "./waiting-writes.ts";
import type { Written } from "./writes.ts";

/** Follows the stores and the queue of one client. None of its functions throws, and no promise is rejected. */
export interface StorePersistence {
  /** Settles when everything that was kept is shown, or cannot be read. */
  readonly shown: Promise<void>;
  /** Settles with `shown`, or earlier on a slow device. */
  readonly opened: Promise<void>;
  /** The room's entry of a key may have changed or, without a key, the whole store was loaded. */
  confirmed(store: string, key?: string): void;
  /** A write was added to the queue, or has changed there. */
  queued(write: QueuedWrite): void;
  /** Settles, in order of the batches, when the batch is kept with its id. */
  sealed(batch: KeptBatch): Promise<void>;
  /** Begins to store at once, because the page may end. Returns whether anything can be stored. */
  flush(): boolean;
  settled(write: QueuedWrite, outcome: Written | AtriumError): void;
  /** The connection has ended for good. Returns whether the writes that are not answered stay kept. */
  stopped(fault: Fault): boolean;
}
