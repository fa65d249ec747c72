/** Ids that follow from what they are for: the same things always have the same one. */
import { sha256 } from "../../platform/crypto/hash.ts";

/** A UUID of version 8, whose other bits RFC 9562 leaves to the application. */
export async function derivedId(parts: readonly (string | number)[]): Promise<string> {
  const hash = await sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
