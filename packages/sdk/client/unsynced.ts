/** All unconfirmed changes of a client: of stores, and of documents. */
import { Emitter } from "../core/emitter.ts";
import { AtriumError, type Fault } from "../core/error.ts";
import { type Runtime, Waiters } from "../core/runtime.ts";
import type { PendingRequests } from "./connection/requests.ts";
import type { DiscardedWrite, WriteQueue } from "./stores/write-queue.ts";

export interface DocumentChanges {
  readonly name: string;
  readonly isPending: boolean;
}

export interface UnsyncedEvents {
  /** Whether there are changes of stores or documents that the service has not confirmed. */
  unsyncedChanges: boolean;
  /** The connection ended before the service confirmed changes, or had failed before they were made. */
  changesDiscarded: {
    /** Writes to stores, which the client gave up. */
    readonly writes: readonly DiscardedWrite[];
    /** The names of the documents with unsynced changes, which stay in memory and are sent after the next `join()`. */
    readonly documents: readonly string[];
    readonly error: AtriumError;
  };
}

export class Unsynced extends Emitter<UnsyncedEvents> {
  readonly #queue: WriteQueue;
  readonly #requests: PendingRequests;
  readonly #documents = new Set<DocumentChanges>();
  readonly #flushes: Waiters;
  #isAny = false;

  constructor(queue: WriteQueue, requests: PendingRequests, runtime: Runtime) {
    super();
    this.#queue = queue;
    this.#requests = requests;
    this.#flushes = new Waiters(runtime);
    queue.on("unsyncedChanges", () => this.report());
    queue.on("changesDiscarded", ({ writes, error }) =>
      this.emit("changesDiscarded", { writes, documents: [], error }),
    );
    requests.onStopped((fault) => this.#stopped(fault));
  }

  get isAny(): boolean {
    return this.#queue.hasUnsynced || this.#pending.length > 0;
  }

  get #pending(): DocumentChanges[] {
    return [...this.#documents].filter(({ isPending }) => isPending);
  }

  /** Counts a document's changes until the returned function is called. */
  add(document: DocumentChanges): () => void {
    this.#documents.add(document);
    return () => {
      this.#documents.delete(document);
      this.report();
    };
  }

  report(): void {
    const { isAny } = this;
    const { ending } = this.#requests;
    // The queue discards its writes when the connection ends for good.
    if (!isAny && ending !== null) this.#flushes.reject(ending);
    else if (!isAny) this.#flushes.resolve();
    if (isAny === this.#isAny) return;
    this.#isAny = isAny;
    this.emit("unsyncedChanges", isAny);
  }

  #stopped(fault: Fault): void {
    const error = new AtriumError(fault);
    this.#flushes.reject(error);
    const documents = this.#pending.map(({ name }) => name);
    if (documents.length > 0) this.emit("changesDiscarded", { writes: [], documents, error });
  }

  /** Throws TIMEOUT, NOT_JOINED, or the error that ended the connection. */
  async flush(timeoutMs?: number): Promise<void> {
    const { failure } = this.#requests;
    if (this.#queue.hasUnsynced && failure !== null) throw failure;
    if (this.#pending.length > 0) this.#requests.check();
    if (this.isAny) await this.#flushes.wait(timeoutMs);
  }
}
