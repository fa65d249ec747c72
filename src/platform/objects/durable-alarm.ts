/** The one alarm of a Durable Object. Setting it writes to storage, so it is only moved to an earlier time. */
export class DurableAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #failed: (error: unknown) => void;
  /** Epoch milliseconds; null when none is set. */
  #at: number | null = null;

  /** `failed` reports an alarm that could not be set: the next call of {@link scheduleBy} tries again. */
  constructor(ctx: DurableObjectState, failed: (error: unknown) => void) {
    this.#storage = ctx.storage;
    this.#failed = failed;
    void ctx.blockConcurrencyWhile(async () => {
      this.#at = await ctx.storage.getAlarm();
    });
  }

  /** Ensures that the alarm fires by the earliest of these times (epoch ms; null for never). */
  scheduleBy(times: readonly (number | null)[]): void {
    const at = Math.min(...times.filter((time) => time !== null));
    if (!Number.isFinite(at) || (this.#at !== null && this.#at <= at)) return;
    this.#at = at;
    void this.#set(at);
  }

  async #set(at: number): Promise<void> {
    try {
      await this.#storage.setAlarm(at);
    } catch (error) {
      if (this.#at === at) this.#at = null;
      this.#failed(error);
    }
  }

  markFired(): void {
    this.#at = null;
  }
}
