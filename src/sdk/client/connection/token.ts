/** Reads a user's token: where to connect, and as which user. Only the service can verify the token. */
import { invalid } from "../../core/error.ts";

export interface Claims {
  readonly accountId: string;
  readonly roomId: string;
  readonly userId: string;
  /** When the token expires, in epoch seconds; null if it does not say. */
  readonly exp: number | null;
}

/** Reads the claims of a user's JWT. Throws VALIDATION_ERROR if it is not one. */
export function readClaims(token: string): Claims {
  const claims = parsePayload(token);
  const { accountId, roomId, userId, exp }: Record<string, unknown> = Object(claims);
  if (typeof accountId !== "string" || typeof roomId !== "string" || typeof userId !== "string")
    throw invalid("Auth", "authToken must be the token of a user");
  return { accountId, roomId, userId, exp: typeof exp === "number" ? exp : null };
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

/** The address of the service for requests: http or https. */
export const httpUrl = (serverUrl: string): string => serverUrl.replace(/^ws/i, "http");

/** The address of the service for sockets. Throws VALIDATION_ERROR unless it is an http, https, ws or wss URL. */
export function socketBase(serverUrl: string): string {
  const base = serverUrl.replace(/^http/i, "ws").replace(/\/*$/, "/");
  try {
    if (/^wss?:\/\//i.test(base)) return new URL(base).href;
  } catch {
    // It is not a URL.
  }
  throw invalid("Client", "serverUrl must be an http or https URL");
}

/** The URL of a path below the account, on the address for sockets. */
const urlBelow = (base: string, { accountId }: Claims, ...path: string[]): string =>
  base + ["v1", "accounts", accountId, ...path].map(encodeURIComponent).join("/");

/** The address of the room's socket. A room that is gone refuses it by a close code, which a page can read. */
export const socketUrl = (base: string, claims: Claims): string =>
  `${urlBelow(base, claims, "rooms", claims.roomId, "socket")}?refusal=close`;

/** The address of what the room offers over HTTP. */
export const roomUrl = (base: string, claims: Claims, ...path: string[]): string =>
  httpUrl(urlBelow(base, claims, "rooms", claims.roomId, ...path));

/** The address of a file, which anyone can read. */
export const fileUrl = (base: string, claims: Claims, key: string): string =>
  httpUrl(urlBelow(base, claims, "storage", ...key.split("/")));
