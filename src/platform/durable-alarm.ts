/** The one alarm of a Durable Object: setting it is a write to storage, so it is only ever set to be earlier. */
export class DurableAlarm {
  readonly #storage: DurableObjectStorage;
  /** Epoch milliseconds; null when none is set. */
  #at: number | null = null;

  constructor(ctx: DurableObjectState) {
    this.#storage = ctx.storage;
    void ctx.blockConcurrencyWhile(async () => {
      this.#at = await ctx.storage.getAlarm();
    });
  }

  /** Sets it to go off at the earliest of these times at the latest (epoch ms; null for never). */
  scheduleBy(times: readonly (number | null)[]): void {
    const at = Math.min(...times.filter((time) => time !== null));
    if (!Number.isFinite(at) || (this.#at !== null && this.#at <= at)) return;
    this.#at = at;
    void this.#storage.setAlarm(at);
  }

  /** It has gone off, or was removed with all else. */
  markFired(): void {
    this.#at = null;
  }
}
