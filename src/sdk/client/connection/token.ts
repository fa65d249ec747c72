/** What a user's token says: where to connect, and as whom. Only the service can tell whether it is genuine. */
import { invalid } from "../../core/error.ts";
import { isRecord } from "../../core/json.ts";

export interface Claims {
  readonly accountId: string;
  readonly roomId: string;
  readonly userId: string;
}

/** Reads a JWT's claims. VALIDATION_ERROR when it is no token of a user. */
export function readClaims(token: string): Claims {
  const claims = parsePayload(token);
  const { accountId, roomId, userId } = isRecord(claims) ? claims : {};
  if (typeof accountId !== "string" || typeof roomId !== "string" || typeof userId !== "string")
    throw invalid("Auth", "authToken is not the token of a user");
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

/** The service's address for requests, as an http or https one. */
export const httpUrl = (serverUrl: string): string => serverUrl.replace(/^ws/i, "http");

/** The address of the room's socket. VALIDATION_ERROR when `serverUrl` is no http, https, ws or wss address. */
export function socketUrl(serverUrl: string, { accountId, roomId }: Claims): string {
  const path = ["v1", "accounts", accountId, "rooms", roomId, "socket"].map(encodeURIComponent).join("/");
  const base = serverUrl.replace(/^http/i, "ws").replace(/\/*$/, "/");
  const url = /^wss?:\/\//i.test(base) ? URL.parse(path, base) : null;
  if (url === null) throw invalid("Client", "serverUrl must be an http or https address");
  return url.href;
}
