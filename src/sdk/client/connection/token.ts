/** Reads a user's token: where to connect, and as which user. Only the service can verify the token. */
import { invalid } from "../../core/error.ts";
import { isRecord } from "../../core/json.ts";

export interface Claims {
  readonly accountId: string;
  readonly roomId: string;
  readonly userId: string;
}

/** Reads the claims of a user's JWT. Throws VALIDATION_ERROR if it is not one. */
export function readClaims(token: string): Claims {
  const claims = parsePayload(token);
  const { accountId, roomId, userId } = isRecord(claims) ? claims : {};
  if (typeof accountId !== "string" || typeof roomId !== "string" || typeof userId !== "string")
    throw invalid("Auth", "authToken must be the token of a user");
  return { accountId, roomId, userId };
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

/** The address of the room's socket. Throws VALIDATION_ERROR unless `serverUrl` is an http, https, ws or wss URL. */
export function socketUrl(serverUrl: string, { accountId, roomId }: Claims): string {
  const path = ["v1", "accounts", accountId, "rooms", roomId, "socket"].map(encodeURIComponent).join("/");
  const base = serverUrl.replace(/^http/i, "ws").replace(/\/*$/, "/");
  const url = /^wss?:\/\//i.test(base) ? URL.parse(path, base) : null;
  if (url === null) throw invalid("Client", "serverUrl must be an http or https URL");
  return url.href;
}

/** The address that takes batches of writes over HTTP, for the address of a room's socket. */
export const batchUrl = (url: string): string =>
  url.replace(/^ws/, "http").replace(/socket$/, "stores/batch");
