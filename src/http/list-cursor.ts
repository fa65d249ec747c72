/** Cursors of lists: opaque to clients, and checked when they come back. They hold nothing that the page did not show. */
import { base64url } from "jose";
import * as z from "zod";
import type { ListPosition } from "../platform/d1.ts";

const Count = z.int().min(0);
const Position = z
  .tuple([z.int().min(0), z.string().min(1).max(512), Count, Count])
  .transform(([time, id, offset, total]): ListPosition => ({ time, id, offset, total }));

/** A position as text that needs no escape in a URL. */
export const encodePosition = ({ time, id, offset, total }: Required<ListPosition>): string =>
  base64url.encode(JSON.stringify([time, id, offset, total]));

/** The position of a cursor; null for any other text. */
export function decodePosition(cursor: string): ListPosition | null {
  try {
    return Position.parse(
      JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(base64url.decode(cursor))),
    );
  } catch {
    return null;
  }
}
