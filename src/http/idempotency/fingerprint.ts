/** What a retry has in common with the first request: who sends it, and what. */
import type { Actor } from "../../platform/context/actor.ts";
import { sha256 } from "../../platform/crypto/hash.ts";

export const fingerprint = (method: string, pathAndQuery: string, body: Uint8Array): Promise<string> => {
  const head = new TextEncoder().encode(`${method} ${pathAndQuery}\n`);
  const bytes = new Uint8Array(head.byteLength + body.byteLength);
  bytes.set(head);
  bytes.set(body, head.byteLength);
  return sha256(bytes);
};

/** Users and members replay only their own requests. API keys share theirs, so that a key can be replaced meanwhile. */
export function scopeOf(actor: Actor): string {
  if (actor.type === "user") return `${actor.accountId}:${actor.userId}`;
  if (actor.type === "person") return `${actor.accountId}:${actor.personId}`;
  return actor.type === "key" ? actor.accountId : "";
}
