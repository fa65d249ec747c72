/** The Authorization scheme of organizations: `Bearer <Base64 of accountId:apiKey>`. */
import { bearerOf, type Scheme } from "../http/authenticate.ts";
import { verifyKey } from "./verify-key.ts";

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** `accountId:apiKey` in standard or URL-safe Base64, padded or not; null when it is something else. */
export function decodeBearer(bearer: string): { readonly accountId: string; readonly apiKey: string } | null {
  if (!BASE64.test(bearer)) return null;
  try {
    const pair = atob(bearer.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    const colon = pair.indexOf(":");
    return colon === -1 ? null : { accountId: pair.slice(0, colon), apiKey: pair.slice(colon + 1) };
  } catch {
    return null;
  }
}

/** An organization, by one of its API keys; a bearer with dots is a JWT, which Base64 cannot be. */
export const apiKeyScheme: Scheme = async (request, { db, now, defer }) => {
  const bearer = bearerOf(request);
  if (bearer === null || bearer.includes(".")) return undefined;
  const pair = decodeBearer(bearer);
  const key = pair && (await verifyKey(db, pair.accountId, pair.apiKey, now(), defer));
  return key && { type: "key", accountId: key.accountId, keyId: key.keyId };
};
