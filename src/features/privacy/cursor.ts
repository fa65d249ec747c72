/** Where the export of a user's data goes on: opaque to clients, and checked when it comes back. Pure. */
import { base64url } from "jose";
import * as z from "zod";
import { PERSONAL_PARTS } from "../../room/types/room-object.ts";

/** What is read one after the other: D1's row, the room's parts, D1's files, the log's events. */
const SECTIONS = ["user", ...PERSONAL_PARTS, "files", "events"] as const;
export type Section = (typeof SECTIONS)[number];

/** A place in a section; `after` is null at its start, else as the section returned it. */
export interface ExportPosition {
  readonly section: Section;
  readonly after: string | null;
}

const Position = z
  .tuple([z.enum(SECTIONS), z.string().max(512).nullable()])
  .transform(([section, after]): ExportPosition => ({ section, after }));

export const encodeExportPosition = ({ section, after }: ExportPosition): string =>
  base64url.encode(JSON.stringify([section, after]));

/** The position of a cursor; null for any other text. */
export function decodeExportPosition(cursor: string): ExportPosition | null {
  try {
    return Position.parse(JSON.parse(new TextDecoder().decode(base64url.decode(cursor))));
  } catch {
    return null;
  }
}

/** The start of the section that follows; null after the last one. */
export function nextSection(section: Section): ExportPosition | null {
  const next = SECTIONS[SECTIONS.indexOf(section) + 1];
  return next === undefined ? null : { section: next, after: null };
}
