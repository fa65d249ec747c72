/** A Yjs document of the room, kept in step with it: a provider in the words of editors' bindings. */
import type { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { Emitter } from "../core/emitter.ts";
import { AtriumError, clientFault, invalid } from "../core/error.ts";
import type { DocumentChannel, OpenDocument } from "../room-documents/document-channel.ts";
import {
  answerFrame,
  awarenessFrame,
  closeFrame,
  type DocumentMessage,
  questionFrame,
  updateFrame,
} from "../room-documents/frames.ts";
import { createAwareness, DocumentPresence } from "./document-presence.ts";
import { UnsyncedChanges } from "./unsynced-changes.ts";

/** `connected`: the client has joined the room, and the document is being kept in step with it. */
export type DocumentStatus = "connected" | "connecting" | "disconnected";

export interface DocumentEvents {
  status: { readonly status: DocumentStatus };
  /** True once the document has everything that the room has; false when the connection is lost. */
  sync: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  unsyncedChanges: boolean;
  /** The room does not take a change, which stays in this document: a viewer's, or one that is too large. */
  refused: { readonly reason: string };
  /** {@link DocumentProvider.error} is another one, or null again. */
  error: AtriumError | null;
  /** The document was deleted, or the room cannot open it: it stays closed until `connect()` is called. */
  closed: { readonly reason: string };
}

export interface DocumentOptions {
  /** The document to keep in step; a new one by default. */
  readonly doc?: Y.Doc | undefined;
  /** The users in the document; by default a new one, which sends nothing while nothing changes. */
  readonly awareness?: Awareness | undefined;
  /** False to begin with {@link DocumentProvider.connect}; true by default. */
  readonly connect?: boolean | undefined;
}

const MAX_UPDATE_BYTES = 8 * 1024 * 1024;
const TOO_LARGE = "The change is larger than 8 MiB, the most that a room takes at once";
const refusal = (message: string): AtriumError =>
  new AtriumError({ code: "FORBIDDEN", module: "Documents", message });
const EMPTY_UPDATE = new Uint8Array([0, 0]);
const DESTROYED = clientFault("DISCONNECTED", "destroy() was called");

/** A mention in the text. */
export interface TextMention {
  /** The editor's own ID of it, up to 255 characters. */
  readonly mentionId: string;
  /** A user of the room, or an identity. */
  readonly userId: string;
}

export class DocumentProvider extends Emitter<DocumentEvents> {
  readonly name: string;
  readonly doc: Y.Doc;
  readonly awareness: Awareness;
  readonly #channel: DocumentChannel;
  readonly #presence: DocumentPresence;
  readonly #changes: UnsyncedChanges;
  readonly #ownsAwareness: boolean;
  readonly #unlisten: (() => void)[];
  #session: OpenDocument | null = null;
  #isDestroyed = false;
  /** The room has closed the document: it takes no change until the next `connect()`. */
  #isClosed = false;
  /** Whether changes are sent as they are made; earlier ones are part of the synchronization. */
  #isLive = false;
  #isSynced = false;
  #status: DocumentStatus = "disconnected";
  #error: AtriumError | null = null;
  #isEntryDue = false;
  #isScheduled = false;
  /** The room may lack deletions of a given document too. */
  readonly #wasFilled: boolean;

  /** Use `openDocument`. */
  constructor(channel: DocumentChannel, name: string, options: DocumentOptions) {
    super();
    const { doc = new Y.Doc(), awareness = createAwareness(doc), connect = true } = options;
    this.name = name;
    this.doc = doc;
    this.#wasFilled = doc.store.clients.size > 0;
    this.awareness = awareness;
    this.#ownsAwareness = options.awareness === undefined;
    this.#channel = channel;
    const { runtime, unsynced } = channel;
    this.#changes = new UnsyncedChanges(
      name,
      runtime,
      () => unsynced.report(),
      (isAny) => this.emit("unsyncedChanges", isAny),
    );
    this.#presence = new DocumentPresence(awareness, () => this.#showEntry());
    doc.on("update", this.#onUpdate);
    doc.on("destroy", this.#onDestroy);
    this.#unlisten = [channel.on("changed", () => this.#updateStatus()), unsynced.add(this.#changes)];
    if (connect) this.connect();
  }

  get status(): DocumentStatus {
    return this.#status;
  }

  /** Whether the document has everything that the room has. */
  get synced(): boolean {
    return this.#isSynced;
  }

  /** Whether there are changes that the room has not confirmed to be on disk. */
  get hasUnsyncedChanges(): boolean {
    return this.#changes.isAny;
  }

  /**
   * Why the room has refused a change, or closed the document; null again once the room has all changes. The next
   * insertion is sent with the refused one, and refused with it if the reason lasts; {@link discard} gives both up.
   */
  get error(): AtriumError | null {
    return this.#error;
  }

  /** Keeps the document in step with the room, whenever its client is connected. */
  connect(): void {
    if (this.#session !== null || this.#isDestroyed) return;
    // Messages of an earlier session are ignored.
    const session: OpenDocument = {
      key: this.#channel.newKey(this.name),
      synchronize: () => this.#synchronize(session),
      receive: (message) => this.#receive(session, message),
      lost: () => this.#lost(),
      drained: () => this.#send(),
    };
    this.#session = session;
    if (this.#isClosed && this.#changes.isAny) this.#changes.miss(false);
    this.#isClosed = false;
    this.#channel.add(session);
    this.#updateStatus();
  }

  /** Leaves the document. Later changes are sent after the next connection. */
  disconnect(): void {
    if (this.#session === null) return;
    this.#send();
    if (this.#isLive) {
      const { key } = this.#session;
      this.#channel.send(awarenessFrame(key, this.#presence.encodeGone()));
      this.#channel.send(closeFrame(key));
    }
    this.#end(this.#session);
  }

  /** Disconnects for good, and stops watching the document, which is kept. An awareness of its own ends with it. */
  destroy(): void {
    if (this.#isDestroyed) return;
    this.disconnect();
    this.#isDestroyed = true;
    for (const unlisten of this.#unlisten) unlisten();
    this.#presence.stop();
    if (this.#ownsAwareness) this.awareness.destroy();
    this.doc.off("update", this.#onUpdate);
    this.doc.off("destroy", this.#onDestroy);
    this.#changes.stop(DESTROYED);
  }

  /**
   * Gives up the changes that the room does not have: ends this provider, and returns one with a new document,
   * which loads the room's content. A Yjs document cannot forget a change, so an editor has to be bound anew.
   */
  discard(options: DocumentOptions = {}): DocumentProvider {
    const entry = this.awareness.getLocalState();
    this.#changes.clear();
    this.destroy();
    this.#changes.forget();
    const provider = new DocumentProvider(this.#channel, this.name, options);
    if (options.awareness === undefined && entry !== null) provider.awareness.setLocalState(entry);
    return provider;
  }

  /** Resolves when all changes are on disk. Throws {@link error}, TIMEOUT after `timeoutMs`, and DISCONNECTED once destroyed. */
  async flush({ timeoutMs }: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    await this.#changes.flush(timeoutMs);
    if (this.#changes.isRefused && this.#error !== null) throw this.#error;
  }

  /**
   * Notifies a person whom the text mentions, once per mention. False if the person does not exist or may not read the
   * room. Throws FORBIDDEN without the right to write documents.
   */
  async mention(mention: TextMention): Promise<boolean> {
    const data = { ...mention, document: this.name };
    return (await this.#channel.request("TEXT_MENTION_CREATE", data)).unnotified === undefined;
  }

  /** Takes a mention that is not in the text any more out of the person's inbox. Throws as {@link mention}. */
  async unmention(mention: TextMention): Promise<void> {
    await this.#channel.request("TEXT_MENTION_DELETE", mention);
  }

  readonly #onDestroy = (): void => this.destroy();

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return;
    if (!this.#isLive) {
      this.#changes.miss(this.#isClosed);
      return;
    }
    this.#changes.add(update);
    this.#schedule();
  };

  #showEntry(): void {
    if (!this.#isLive) return;
    this.#isEntryDue = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#session === null || !this.#isLive || !this.#channel.isFree) return;
    const { key } = this.#session;
    const update = this.#changes.take();
    if (update !== null && update.length > MAX_UPDATE_BYTES) this.#refuse(update);
    else if (update !== null) {
      this.#changes.sent(update);
      this.#channel.send(updateFrame(key, update));
    }
    if (!this.#isEntryDue) return;
    this.#isEntryDue = false;
    this.#channel.send(awarenessFrame(key, this.#presence.encode()));
  }

  #refuse(update: Uint8Array): void {
    this.#changes.refuse(update);
    this.#refused(invalid("Documents", TOO_LARGE));
  }

  #refused(error: AtriumError): void {
    this.#setError(error);
    this.emit("refused", { reason: error.message });
  }

  #synchronize({ key }: OpenDocument): void {
    this.#isLive = true;
    this.#channel.send(questionFrame(key, Y.encodeStateVector(this.doc)));
    if (this.#presence.hasEntry) this.#presence.show();
    this.#updateStatus();
  }

  #receive(session: OpenDocument, message: DocumentMessage): void {
    switch (message.type) {
      case "question":
        this.#answer(session, message.stateVector);
        break;
      case "answer":
        Y.applyUpdate(this.doc, message.update, this);
        this.#channel.synchronized(session);
        this.#setSynced(true);
        break;
      case "update":
        Y.applyUpdate(this.doc, message.update, this);
        break;
      case "awareness":
        this.#presence.receive(message.entries);
        break;
      case "queryAwareness":
        if (this.#presence.hasEntry) this.#showEntry();
        break;
      case "status":
        this.#changes.settle(message.refusal === null);
        if (message.refusal !== null) this.#refused(refusal(message.refusal));
        else if (!this.#changes.isRefused) this.#setError(null);
        break;
      case "closed":
        this.#isClosed = true;
        this.#end(session);
        if (this.#isClosed) this.#changes.refuse(); // unless a listener has connected again
        this.#setError(refusal(message.reason));
        this.emit("closed", { reason: message.reason });
        break;
    }
  }

  /** Sends everything that the room lacks. */
  #answer({ key }: OpenDocument, stateVector: Uint8Array): void {
    const update = Y.encodeStateAsUpdate(this.doc, stateVector);
    const isTooLarge = update.length > MAX_UPDATE_BYTES;
    // An update begins with its number of inserting clients, and always has all deletions.
    const hasChanges = this.#changes.isAny || this.#wasFilled || update[0] !== 0;
    this.#changes.clear();
    this.#changes.sent(isTooLarge ? EMPTY_UPDATE : update, hasChanges && !isTooLarge);
    if (isTooLarge) this.#refuse(update);
    this.#channel.send(answerFrame(key, isTooLarge ? EMPTY_UPDATE : update));
  }

  #lost(): void {
    this.#isLive = false;
    this.#isEntryDue = false;
    this.#changes.lost();
    this.#presence.forgetOthers();
    this.#setSynced(false);
  }

  #end(session: OpenDocument): void {
    this.#session = null;
    this.#channel.remove(session);
    this.#lost();
    this.#updateStatus();
  }

  #updateStatus(): void {
    const { state } = this.#channel;
    const wanted = state === "connected" && !this.#isLive ? "connecting" : state;
    const status = this.#session === null ? "disconnected" : wanted;
    if (status === this.#status) return;
    this.#status = status;
    this.emit("status", { status });
  }

  #setError(error: AtriumError | null): void {
    if (error?.message === this.#error?.message) return;
    this.#error = error;
    this.emit("error", error);
  }

  #setSynced(isSynced: boolean): void {
    if (isSynced === this.#isSynced) return;
    this.#isSynced = isSynced;
    this.emit("sync", isSynced);
  }
}
