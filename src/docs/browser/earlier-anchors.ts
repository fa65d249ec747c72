/** Links to parts of the earlier reference, which was one page, lead to the pages that these parts are now. */

const REFERENCE = "/docs/reference";
const ANCHOR = /^#(operation|schema)-(\w+)$/;

/** Where the part is now that was at this anchor of the page at `path`; null for any other anchor. */
export function presentAddress(path: string, hash: string): string | null {
  if (path !== REFERENCE) return null;
  if (hash === "#schemas") return `${REFERENCE}/schemas`;
  const [, kind, name] = ANCHOR.exec(hash) ?? [];
  if (kind === undefined) return null;
  return kind === "operation" ? `${REFERENCE}/${name}` : `${REFERENCE}/schemas/${name}`;
}
