/** The awareness of a document over a room's socket: who is in it, without a message while nothing changes. */
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

/** An awareness that neither renews its entry nor forgets others: the room removes those of sockets that are gone. */
export function createAwareness(doc: Y.Doc): Awareness {
  const awareness = new Awareness(doc);
  clearInterval(awareness._checkInterval);
  return awareness;
}

export class DocumentPresence {
  readonly #awareness: Awareness;
  readonly #changed: () => void;
  /** What has changed by the latest event: an update without one is a renewal. */
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

  /** Another client renews its entry: it would forget this one's, were it not renewed as well. */
  #renew(): void {
    const { meta, clientID } = this.#awareness;
    const lastUpdated = meta.get(clientID)?.lastUpdated ?? 0;
    if (this.hasEntry && Date.now() - lastUpdated >= RENEWAL_MS) this.show();
  }

  /** Whether this client shows anything. */
  get hasEntry(): boolean {
    return this.#awareness.getLocalState() !== null;
  }

  /** Sends this client's entry again, as a new one: the room has removed the one of an earlier connection. */
  show(): void {
    this.#awareness.setLocalState(this.#awareness.getLocalState());
  }

  /** This client's entry, as it is sent. */
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

  /** The connection was lost: no one else is known to be here. */
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
