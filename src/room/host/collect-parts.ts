/** Puts together what a room's object returns in parts, as a call returns 32 MiB at most. */
import type { VersionPart, VersionPosition } from "../port/document-history.ts";
import type { DocumentPart } from "../port/room-documents.ts";

/** Reads the parts of a document one by one; from the start again when they were folded meanwhile. */
export async function collectParts(
  read: (part: number) => Promise<DocumentPart | null>,
): Promise<readonly Uint8Array[] | null> {
  let parts: Uint8Array[] = [];
  let version: string | null = null;
  for (;;) {
    const part = await read(parts.length);
    if (part === null) return null;
    if (version !== null && part.version !== version) parts = [];
    else if (part.update === null) return parts;
    else parts.push(part.update);
    version = part.version;
  }
}

/** Reads the updates of a version, as many at a time as fit into a call; null when the document is another one. */
export async function collectVersion(
  read: (from: VersionPosition) => Promise<VersionPart | null>,
  documentId: number | null,
): Promise<readonly Uint8Array[] | null> {
  const updates: Uint8Array[] = [];
  let from: VersionPosition | null = { documentId, afterSeq: 0 };
  while (from !== null) {
    const part: VersionPart | null = await read(from);
    if (part === null) return null;
    updates.push(...part.updates);
    from = part.next;
  }
  return updates;
}
