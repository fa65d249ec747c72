/** Cursors of lists: opaque to clients, and checked when they come back. They hold nothing that the page did not show. */
import { base64url } from "jose";
import * as z from "zod";
import type { ListPosition } from "../../platform/d1/d1.ts";

const Count = z.int().min(0);
const Id = z.string().min(1).max(512);
const Position = z.union([
  z
    .tuple([z.int().min(0), Id, Count, Count])
    .transform(([key, id, offset, total]): ListPosition => ({ key, id, offset, total })),
  z
    .tuple([z.union([z.int().min(0), z.string()]), Id, Count, Count, z.string().min(1)])
    .transform(([key, id, offset, total, sort]): ListPosition => ({ key, id, offset, total, sort })),
]);

/** A position in a list whose pages are counted. */
export type CountedPosition = ListPosition & Required<Pick<ListPosition, "offset" | "total">>;

/** A position as text that needs no escape in a URL. */
export const encodePosition = ({ key, id, offset, total, sort }: CountedPosition): string =>
  base64url.encode(JSON.stringify([key, id, offset, total, ...(sort === undefined ? [] : [sort])]));

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
