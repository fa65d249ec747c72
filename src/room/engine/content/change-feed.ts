/** The room's changes for readers without a socket, who name the place that they have read up to. */

import { JsonText } from "../../protocol/frame.ts";
import { eventForGuest } from "../../protocol/guest-view.ts";
import type { Change } from "../../protocol/protocol.ts";
import { serverSentEvent } from "../../protocol/server-sent-event.ts";
import type { ChangePlace, KnownPlace } from "../../types/changes.ts";
import type { Changes } from "./changes.ts";

const encoder = new TextEncoder();

interface Part {
  /** Null for a reader that has to load what the room has: it is new, or changes that it lacks are no longer kept. */
  readonly changes: readonly Change[] | null;
  readonly next: KnownPlace;
}

interface EventsPart {
  /** Empty where there is no news. */
  readonly bytes: Uint8Array;
  readonly next: KnownPlace;
}

interface SentPart extends EventsPart {
  readonly from: ChangePlace | null;
}

export class ChangeFeed {
  readonly #changes: Changes;
  /** The latest parts that were sent to guests and to others. */
  #ofGuests: SentPart | null = null;
  #ofOthers: SentPart | null = null;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  /** The log is another one than before, or no one reads it any more. */
  changed(): void {
    this.#ofGuests = null;
    this.#ofOthers = null;
  }

  /** The changes after a place, of each entry the latest, as a JSON object; null for the end. */
  page(from: ChangePlace | null, isGuest: boolean): string {
    const { changes, next } = this.#read(from, isGuest);
    return JsonText.of({
      changes: new JsonText(`[${(changes ?? []).map((change) => JsonText.of({ ...change }).text).join()}]`),
      reset: changes === null,
      next,
    }).text;
  }

  /** The same as Server-Sent Events. Readers at the same place share them. */
  events(from: ChangePlace | null, isGuest: boolean): EventsPart {
    const latest = isGuest ? this.#ofGuests : this.#ofOthers;
    if (latest !== null && latest.from?.seq === from?.seq && latest.from?.epoch === from?.epoch)
      return latest;
    const { changes, next } = this.#read(from, isGuest);
    const eventOf = (name: string, data: object, seq: number) =>
      serverSentEvent(
        name,
        data instanceof JsonText ? data.text : JSON.stringify(data),
        `${next.epoch}:${seq}`,
      );
    const events =
      changes === null
        ? [eventOf("reset", next, next.seq)]
        : changes.map(({ event, data, seq }) => eventOf(event, data, seq));
    const part = { from, bytes: encoder.encode(events.join("")), next };
    if (events.length === 0) return part;
    if (isGuest) this.#ofGuests = part;
    else this.#ofOthers = part;
    return part;
  }

  #read(from: ChangePlace | null, isGuest: boolean): Part {
    const next = this.#changes.end;
    if (from === null) return { changes: null, next };
    if (from.seq === next.seq && from.epoch === next.epoch) return { changes: [], next };
    const changes = this.#changes.after(from);
    const shown = isGuest ? changes?.map(forGuest) : changes;
    return { changes: shown ?? null, next };
  }
}

const forGuest = ({ seq, event, data }: Change): Change => {
  const shown = eventForGuest({ type: "event", seq, event, data });
  return { seq, event, data: shown.data };
};
