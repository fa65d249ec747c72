/** A WebSocket that can hold back frames, so that handling them can be timed without receiving them. */

export class HeldSocket extends WebSocket {
  #isHolding = false;
  readonly #held: string[] = [];

  constructor(url: string) {
    super(url);
    // The first listener, before those of the client.
    this.addEventListener("message", (event) => {
      if (!this.#isHolding) return;
      event.stopImmediatePropagation();
      // A frame for each message, as in a calm room.
      for (const message of JSON.parse(String(event.data)) as object[])
        this.#held.push(JSON.stringify([message]));
    });
  }

  hold(): void {
    this.#isHolding = true;
  }

  /** The frames that are held back. */
  get held(): readonly string[] {
    return this.#held;
  }

  /** Hands over the held frames one after the other, and holds none back from then on. */
  release(): void {
    this.#isHolding = false;
    for (const data of this.#held.splice(0)) this.dispatchEvent(new MessageEvent("message", { data }));
  }
}
