/** The user's token: its claims, the addresses that they name, and the function that returns another one. */
import { backoffMs } from "../../../platform/flow/backoff.ts";
import { AtriumError, clientFault, invalid } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";

export interface Claims {
  readonly accountId: string;
  /** The room in addresses: its ID or, until that is known, `custom` and its custom ID. */
  room: RoomPath;
  /** Names the user, or the identity, in the room. */
  readonly scope: string;
  /** The user in the room; of an identity empty until it is known. */
  userId: string;
  /** When the token expires, in epoch seconds; Infinity if it does not say. */
  readonly exp: number;
}

export type RoomPath = readonly [id: string] | readonly ["custom", customId: string];

/** Reads the claims of a user's JWT or, with a room, of an identity's. Throws VALIDATION_ERROR if it is not one. */
function readClaims(token: string, entered: RoomPath | undefined): Claims {
  const claims: Record<string, unknown> = Object(parsePayload(token));
  const isOfUser = entered === undefined;
  const { accountId, roomId, exp } = claims;
  const ownerId = isOfUser ? claims.userId : claims.identityId;
  const room = entered ?? (typeof roomId === "string" && [roomId]);
  if (typeof accountId !== "string" || !room || typeof ownerId !== "string")
    throw invalid("Auth", `authToken must be the token of ${isOfUser ? "a user" : "an identity"}`);
  const userId = isOfUser ? ownerId : "";
  const scope = [accountId, ...room, ownerId].join(" ");
  return { accountId, room, scope, userId, exp: typeof exp === "number" ? exp : Infinity };
}

function parsePayload(token: string): unknown {
  try {
    const [, payload = ""] = token.split(".");
    const binary = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

export const httpUrl = (serverUrl: string): string => serverUrl.replace(/^ws/i, "http");

/** The address of the service for sockets. Throws VALIDATION_ERROR unless it is an http, https, ws or wss URL. */
export function socketBase(serverUrl: string): string {
  const base = serverUrl.replace(/^http/i, "ws").replace(/\/*$/, "/");
  try {
    if (/^wss?:\/\//i.test(base)) return new URL(base).href;
  } catch {}
  throw invalid("Client", "serverUrl must be an http or https URL");
}

const urlBelow = (base: string, { accountId }: Claims, ...path: string[]): string =>
  base + ["v1", "accounts", accountId, ...path].map(encodeURIComponent).join("/");

export const roomBelow = (base: string, claims: Claims, ...path: string[]): string =>
  urlBelow(base, claims, "rooms", ...claims.room, ...path);

export const roomUrl = (base: string, claims: Claims, ...path: string[]): string =>
  httpUrl(roomBelow(base, claims, ...path));

export const fileUrl = (base: string, claims: Claims, key: string): string =>
  httpUrl(urlBelow(base, claims, "storage", ...key.split("/")));

/** The user's token, or a function that returns the current one; null while there is none yet. */
export type AuthToken = string | (() => string | null | Promise<string | null>);

/** A token is not used in its last seconds: it would expire on its way. */
const LAST_MS = 5_000;
const NULL_BACKOFF = { firstMs: 1_000, maxMs: 30_000 };

const ANOTHER_USER = "authToken must be the token of the same user and room";

export class Tokens {
  readonly #source: AuthToken;
  readonly #runtime: Runtime;
  readonly #room: RoomPath | undefined;
  #claims: Claims | null = null;
  #token: string | null = null;
  /** Epoch milliseconds by this device's clock. */
  receivedAt = 0;
  /** A new token is used for this long in any case: the device's clock may be wrong. */
  readonly trustedMs = 30_000;
  usableUntil = Infinity;
  #asking: Promise<string | null> | null = null;

  /** Called, and awaited, before a token is obtained for a connection. Never rejects. */
  prepare?: (claims: Claims) => Promise<void>;

  /** With a room, the tokens are those of an identity. */
  constructor(source: AuthToken, runtime: Runtime, room?: RoomPath) {
    this.#source = source;
    this.#runtime = runtime;
    this.#room = room;
    if (typeof source === "string") this.#accept(source);
  }

  get claims(): Claims | null {
    return this.#claims;
  }

  get isRenewable(): boolean {
    return typeof this.#source === "function";
  }

  /** The token to use now; null if one must be obtained first. */
  get current(): string | null {
    const isUsable =
      this.#runtime.date() < Math.max(this.usableUntil - LAST_MS, this.receivedAt + this.trustedMs);
    return isUsable || !this.isRenewable ? this.#token : null;
  }

  discard(): void {
    this.#token = null;
  }

  /** The current token or, with `isNew`, another one; waits while there is none. Throws CONNECTION_FAILED if the function fails. */
  async obtain(signal: AbortSignal, isNew = false): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.next(isNew ? this.#token : null);
      await (this.#claims && this.prepare?.(this.#claims));
      signal.throwIfAborted();
      if (token !== null) return token;
      await this.#wait(backoffMs(attempt, NULL_BACKOFF), signal);
    }
  }

  /** The current token unless it is `had`, and otherwise the function's next one; null while there is none. */
  async next(had: string | null): Promise<string | null> {
    const { current } = this;
    return current === null || current === had ? this.#ask() : current;
  }

  #ask(): Promise<string | null> {
    this.#asking ??= this.#askSource().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askSource(): Promise<string | null> {
    let token: string | null;
    try {
      token = typeof this.#source === "string" ? this.#source : await this.#source();
    } catch (error) {
      if (error instanceof AtriumError) throw error;
      throw new AtriumError(clientFault("CONNECTION_FAILED", `authToken failed: ${String(error)}`));
    }
    if (token !== null) this.#accept(token);
    return token;
  }

  #accept(token: string): void {
    const claims = readClaims(token, this.#room);
    this.#claims ??= claims;
    if (claims.scope !== this.#claims.scope)
      throw new AtriumError({ code: "FORBIDDEN", module: "Auth", message: ANOTHER_USER });
    this.#token = token;
    this.receivedAt = this.#runtime.date();
    this.usableUntil = claims.exp * 1000;
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
