/** Links to parts of the earlier reference, which was one page, lead to the pages that these parts are now. */
import { operationAddress, REFERENCE, SCHEMAS_ADDRESS, schemaAddress } from "./addresses.ts";

const ANCHOR = /^#(operation|schema)-(\w+)$/;

/** Where the part is now that was at this anchor of the page at `path`; null for any other anchor. */
export function presentAddress(path: string, hash: string): string | null {
  if (path !== REFERENCE) return null;
  if (hash === "#schemas") return SCHEMAS_ADDRESS;
  const [, kind, name = ""] = ANCHOR.exec(hash) ?? [];
  if (kind === undefined) return null;
  return kind === "operation" ? operationAddress(name) : schemaAddress(name);
}
