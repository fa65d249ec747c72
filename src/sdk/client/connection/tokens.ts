/** The user's token: a text, or a function that is asked for a new one before and after it expires. */
import { AtriumError, clientFault } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";
import { type Claims, readClaims } from "./token.ts";

/**
 * The user's token, or a function that returns the current one: null while there is none yet. The function is asked
 * again before and after the token expires, and once when the service has refused it.
 */
export type AuthToken = string | (() => string | null | Promise<string | null>);

/** A token is not used in its last seconds: it would expire on its way. */
const LAST_MS = 5_000;
/** How long to wait after null before the function is asked again: twice as long each time, up to the maximum. */
const NULL_DELAY_MS = 1_000;
const MAX_NULL_DELAY_MS = 30_000;

const ANOTHER_USER = "authToken must be the token of the same user and room";

export class Tokens {
  readonly #source: AuthToken;
  readonly #runtime: Runtime;
  #claims: Claims | null = null;
  #token: string | null = null;
  /** When the latest token was received, and when it expires (epoch ms, by this device's clock). */
  receivedAt = 0;
  /** For this long a new token is used in any case: this device's clock may be wrong. */
  readonly trustedMs = 30_000;
  usableUntil = Infinity;
  #asking: Promise<string | null> | null = null;

  /** Called, and awaited, before a token is obtained for a connection. Never rejects. */
  prepare?: (claims: Claims) => Promise<void>;

  /** Throws VALIDATION_ERROR for a text that is not a user's token. */
  constructor(source: AuthToken, runtime: Runtime) {
    this.#source = source;
    this.#runtime = runtime;
    if (typeof source === "string") this.#accept(source);
  }

  /** Of the first token; null before it. */
  get claims(): Claims | null {
    return this.#claims;
  }

  /** Whether there can be another token than this one. */
  get isRenewable(): boolean {
    return typeof this.#source === "function";
  }

  /** The token to use now; null if one must be obtained first. */
  get current(): string | null {
    const isUsable =
      this.#runtime.date() < Math.max(this.usableUntil - LAST_MS, this.receivedAt + this.trustedMs);
    return isUsable || !this.isRenewable ? this.#token : null;
  }

  /** The service has refused the token. */
  discard(): void {
    if (this.isRenewable) this.#token = null;
  }

  /**
   * Returns the current token or, with `isNew`, asks for another one. Waits, and asks again, while there is none yet.
   * Throws CONNECTION_FAILED if the function fails, VALIDATION_ERROR for a text that is not a user's token, FORBIDDEN
   * for the token of another user or room, and the signal's reason when it is aborted.
   */
  async obtain(signal: AbortSignal, isNew = false): Promise<string> {
    for (let attempt = 0; ; attempt += 1) {
      const token = (isNew ? null : this.current) ?? (await this.#ask());
      await (this.#claims && this.prepare?.(this.#claims));
      signal.throwIfAborted();
      if (token !== null) return token;
      await this.#wait(Math.min(NULL_DELAY_MS * 2 ** attempt, MAX_NULL_DELAY_MS), signal);
    }
  }

  /** Callers at the same time share one question. */
  #ask(): Promise<string | null> {
    this.#asking ??= this.#askSource().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askSource(): Promise<string | null> {
    if (typeof this.#source === "string") return this.#source;
    let token: string | null;
    try {
      token = await this.#source();
    } catch (error) {
      throw new AtriumError(clientFault("CONNECTION_FAILED", `authToken failed: ${String(error)}`));
    }
    if (token !== null) this.#accept(token);
    return token;
  }

  #accept(token: string): void {
    const claims = readClaims(token);
    const known = this.#claims ?? claims;
    if (
      claims.userId !== known.userId ||
      claims.roomId !== known.roomId ||
      claims.accountId !== known.accountId
    )
      throw new AtriumError({ code: "FORBIDDEN", module: "Auth", message: ANOTHER_USER });
    this.#claims = known;
    this.#token = token;
    this.receivedAt = this.#runtime.date();
    this.usableUntil = (claims.exp ?? Infinity) * 1000;
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#runtime.after(delayMs, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        reject(signal.reason);
      });
    });
  }
}
