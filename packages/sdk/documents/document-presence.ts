/** The awareness of a document over a room's socket, without messages while nothing changes. */
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from "y-protocols/awareness";
import type * as Y from "yjs";

/** Editors' own clients forget an entry after 30 s, and renew theirs every 15 s. */
const RENEWAL_MS = 15_000;

interface AwarenessChange {
  readonly added: readonly number[];
  readonly updated: readonly number[];
  readonly removed: readonly number[];
}

/** Neither renews its entry nor forgets others: the room removes entries of closed sockets. */
export function createAwareness(doc: Y.Doc): Awareness {
  const awareness = new Awareness(doc);
  clearInterval(awareness._checkInterval);
  return awareness;
}

export class DocumentPresence {
  readonly #awareness: Awareness;
  readonly #changed: () => void;
  /** Whether `change` preceded `update`: an update without a change is a renewal. */
  #hasChanged = false;

  /** `changed` is called when this client's own entry is to be sent. */
  constructor(awareness: Awareness, changed: () => void) {
    this.#awareness = awareness;
    this.#changed = changed;
    awareness.on("change", this.#onChange);
    awareness.on("update", this.#onUpdate);
  }

  readonly #onChange = (): void => {
    this.#hasChanged = true;
  };

  readonly #onUpdate = ({ added, updated, removed }: AwarenessChange, origin: unknown): void => {
    const isRenewal = !this.#hasChanged;
    this.#hasChanged = false;
    if (origin !== this) {
      const { clientID } = this.#awareness;
      if ([...added, ...updated, ...removed].includes(clientID)) this.#changed();
    } else if (isRenewal) this.#renew();
  };

  /** A client that renews its entry would forget one that is not renewed. */
  #renew(): void {
    const { meta, clientID } = this.#awareness;
    const lastUpdated = meta.get(clientID)?.lastUpdated ?? 0;
    if (this.hasEntry && Date.now() - lastUpdated >= RENEWAL_MS) this.show();
  }

  get hasEntry(): boolean {
    return this.#awareness.getLocalState() !== null;
  }

  /** The room removed the entry of an earlier connection: sends it as a new one. */
  show(): void {
    this.#awareness.setLocalState(this.#awareness.getLocalState());
  }

  encode(): Uint8Array {
    return encodeAwarenessUpdate(this.#awareness, [this.#awareness.clientID]);
  }

  /** The end of this client's entry, which stays here for the next connection. */
  encodeGone(): Uint8Array {
    return encodeAwarenessUpdate(this.#awareness, [this.#awareness.clientID], new Map());
  }

  receive(entries: Uint8Array): void {
    applyAwarenessUpdate(this.#awareness, entries, this);
  }

  /** Removes all other users: without a connection, their presence is unknown. */
  forgetOthers(): void {
    const { states, meta, clientID } = this.#awareness;
    const others = [...states.keys()].filter((client) => client !== clientID);
    removeAwarenessStates(this.#awareness, others, this);
    // The room sends the same entries again, which would count as old.
    for (const client of others) meta.delete(client);
  }

  stop(): void {
    this.#awareness.off("change", this.#onChange);
    this.#awareness.off("update", this.#onUpdate);
  }
}
