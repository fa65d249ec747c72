/** The user's token: its claims, its addresses, and the function that returns another one. */
import { segmentOf, serviceAddress } from "../../core/address.ts";
import { AtriumError, clientFault, invalid } from "../../core/error.ts";
import { abortable, type Runtime } from "../../core/runtime.ts";

export interface Claims {
  readonly accountId: string;
  /** The room's path: its ID or, until that is known, `custom` and its custom ID. */
  room: RoomPath;
  /** Names the user, or the identity, in the room. */
  readonly scope: string;
  /** The user in the room; empty for an identity until it is known. */
  userId: string;
  /** The time from its creation to its end; null if it does not say. */
  readonly lifetimeMs: number | null;
}

export type RoomPath = readonly [id: string] | readonly ["custom", customId: string];

/** Reads the claims of a user's JWT or, with a room, of an identity's. Throws VALIDATION_ERROR if it is not one. */
export function readClaims(token: string, entered: RoomPath | undefined): Claims {
  const claims: Record<string, unknown> = Object(parsePayload(token));
  const isOfUser = entered === undefined;
  const { accountId, roomId, iat, exp } = claims;
  const ownerId = isOfUser ? claims.userId : claims.identityId;
  const room = entered ?? (typeof roomId === "string" && [roomId]);
  if (typeof accountId !== "string" || !room || typeof ownerId !== "string")
    throw invalid("Auth", `authToken must be the token of ${isOfUser ? "a user" : "an identity"}`);
  const userId = isOfUser ? ownerId : "";
  const scope = [accountId, ...room, ownerId].join(" ");
  const lifetimeMs = typeof exp === "number" && typeof iat === "number" ? (exp - iat) * 1000 : null;
  return { accountId, room, scope, userId, lifetimeMs };
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

const httpUrl = (serverUrl: string): string => serverUrl.replace(/^ws/i, "http");

/** The address of the service for sockets. Throws VALIDATION_ERROR unless it is an http, https, ws or wss URL. */
export const socketBase = (serverUrl: string): string => `ws${serviceAddress(serverUrl)}/`;

const urlBelow = (base: string, { accountId }: Claims, ...path: string[]): string =>
  base + ["v1", "accounts", accountId, ...path].map(segmentOf).join("/");

export const roomBelow = (base: string, claims: Claims, ...path: string[]): string =>
  urlBelow(base, claims, "rooms", ...claims.room, ...path);

export const roomUrl = (base: string, claims: Claims, ...path: string[]): string =>
  httpUrl(roomBelow(base, claims, ...path));

export const fileUrl = (base: string, claims: Claims, key: string): string =>
  httpUrl(urlBelow(base, claims, "storage", ...key.split("/")));

/** Reason for a request of a token: a new connection or request, a token that ends soon, or a refused one. */
export type TokenReason = "connect" | "renew" | "refused";

export interface TokenRequest {
  /** The room that needs the token; null for an inbox, and until the ID of a room with a custom ID is known. */
  readonly roomId: string | null;
  readonly reason: TokenReason;
  /** Aborted once the token is not needed any more, and after 15 s. */
  readonly signal: AbortSignal;
}

/** The user's token, or a function that returns the current one; null while there is none yet. */
export type AuthToken = string | ((request: TokenRequest) => string | null | Promise<string | null>);

/** Time before its end in which a token is not used: it would expire on its way. */
const LAST_MS = 5_000;
/** A token is renewed this long before its end, or a quarter of its time if that is shorter. */
const EARLY_MS = 60_000;
const ASK_LIMIT_MS = 15_000;

const ANOTHER_USER = "authToken must be the token of the same user and room";

/** A call of the function, for all who wait for its token. */
interface Asking {
  readonly answer: Promise<string | null>;
  readonly aborting: AbortController;
  waiting: number;
}

export class Tokens {
  readonly #source: AuthToken;
  readonly runtime: Runtime;
  readonly #room: RoomPath | undefined;
  #claims: Claims | null = null;
  #token: string | null = null;
  /**
   * Measured by a monotonic clock from the token's arrival: the device's time can be hours away from the
   * service's.
   */
  #endsAt = Infinity;
  #lifetimeMs = Infinity;
  #asking: Asking | null = null;

  /** Called, and awaited, before a token is obtained for a connection. Never rejects. */
  prepare?: (claims: Claims) => Promise<void>;

  /** `room` makes the tokens those of an identity. */
  constructor(source: AuthToken, runtime: Runtime, room?: RoomPath) {
    this.#source = source;
    this.runtime = runtime;
    this.#room = room;
    if (!this.isRenewable) this.#accept(String(source).trim());
  }

  get claims(): Claims | null {
    return this.#claims;
  }

  get isRenewable(): boolean {
    return typeof this.#source === "function";
  }

  /** The token to use now; null if one must be obtained first. */
  get current(): string | null {
    return this.runtime.now() < this.#endsAt - LAST_MS || !this.isRenewable ? this.#token : null;
  }

  /** The time until the token is to be renewed; null for a text, which cannot be. */
  get renewInMs(): number | null {
    if (!this.isRenewable) return null;
    const earlyMs = Math.min(EARLY_MS, this.#lifetimeMs / 4);
    return this.#token === null ? 0 : Math.max(this.#endsAt - earlyMs - this.runtime.now(), 0);
  }

  /** The service has refused the token. */
  forget(): void {
    if (this.isRenewable) this.#token = null;
  }

  /** The token for a connection, once the data kept on the device is open; null while there is none. */
  async take(reason: TokenReason, signal: AbortSignal): Promise<string | null> {
    const token = await this.next(reason === "renew" ? this.#token : null, this.request(reason, signal));
    await (this.#claims && this.prepare?.(this.#claims));
    signal.throwIfAborted();
    return token;
  }

  /** The current token unless it is `had`, and otherwise the function's next one; null while there is none. */
  async next(had: string | null, request: TokenRequest): Promise<string | null> {
    const { current } = this;
    request.signal.throwIfAborted();
    if (current !== null && current !== had) return current;
    this.#asking ??= this.#ask(request);
    const asking = this.#asking;
    asking.waiting += 1;
    return abortable(asking.answer, request, () => {
      asking.waiting -= 1;
      if (asking.waiting === 0) asking.aborting.abort();
    });
  }

  #ask(request: TokenRequest): Asking {
    const aborting = new AbortController();
    const asking: Asking = { answer: this.#answer(request, aborting), aborting, waiting: 0 };
    const isOver = () => {
      if (this.#asking === asking) this.#asking = null;
    };
    aborting.signal.addEventListener("abort", isOver);
    asking.answer.then(isOver, isOver);
    return asking;
  }

  /** Throws CONNECTION_FAILED for whatever the function does wrong: its next answer can be better. */
  async #answer(request: TokenRequest, aborting: AbortController): Promise<string | null> {
    const { signal } = aborting;
    const cancel = this.runtime.after(ASK_LIMIT_MS, () =>
      aborting.abort(failed(`authToken did not answer within ${ASK_LIMIT_MS / 1000} s`)),
    );
    try {
      const token = await abortable(this.#call({ ...request, signal }), { signal });
      if (token !== null) this.#accept(token);
      return token;
    } finally {
      cancel();
    }
  }

  request(reason: TokenReason, signal: AbortSignal): TokenRequest {
    const [id, customId] = this.#claims?.room ?? this.#room ?? [""];
    return { roomId: customId === undefined && id !== "" ? id : null, reason, signal };
  }

  async #call(request: TokenRequest): Promise<string | null> {
    if (typeof this.#source === "string") return this.#source;
    try {
      const answer: unknown = await this.#source(request);
      if (answer === null) return null;
      if (typeof answer === "string") return answer.trim();
    } catch (error) {
      if (error instanceof AtriumError) throw error;
      throw failed(`authToken failed: ${String(error)}`, error);
    }
    throw failed("authToken must return the token as a text, or null");
  }

  #accept(token: string): void {
    const claims = this.#read(token);
    this.#claims ??= claims;
    if (claims.scope !== this.#claims.scope)
      throw new AtriumError({ code: "FORBIDDEN", module: "Auth", message: ANOTHER_USER });
    this.#token = token;
    this.#lifetimeMs = claims.lifetimeMs ?? Infinity;
    this.#endsAt = this.runtime.now() + this.#lifetimeMs;
  }

  /** A function's text that is no token is a failed attempt, such as the error page of a back end. */
  #read(token: string): Claims {
    try {
      return readClaims(token, this.#room);
    } catch (error) {
      if (!this.isRenewable) throw error;
      throw failed(`${(error as AtriumError).message}, and not "${token.slice(0, 40)}"`, error);
    }
  }
}

const failed = (message: string, cause?: unknown): AtriumError =>
  new AtriumError(clientFault("CONNECTION_FAILED", message), undefined, { cause });
