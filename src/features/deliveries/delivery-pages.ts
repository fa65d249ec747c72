/** Pages of a subscriber's deliveries, newest first. A cursor names the delivery that its page ended with. */
import type { DeliveryPage, DeliveryQuery } from "../../delivery/subscriber/delivery.ts";
import { encodePosition, type PresentedScroll } from "../../http/lists.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { AppError, type Module } from "../../platform/errors.ts";

type Bounds = Pick<Page, "limit" | "offset" | "after">;

/** The query for the subscriber's object. BAD_REQUEST, as of this module, for the cursor of another list. */
export function toDeliveryQuery(module: Module, { limit, offset, after }: Bounds): DeliveryQuery {
  if (after === undefined) return { limit, offset };
  if (!/^[1-9]\d{0,14}$/.test(after.id))
    throw new AppError(module, "BAD_REQUEST", "after must be the cursor of an earlier page of this list");
  return { limit, offset, beforeSeq: Number(after.id) };
}

/** The page as a response describes it. */
export function presentDeliveryPage(
  { limit, offset, after }: Bounds,
  { deliveries, total, isCut = false }: DeliveryPage,
): PresentedScroll {
  const shown = { total, limit, offset: (after?.offset ?? 0) + offset };
  const next = shown.offset + deliveries.length;
  const last = deliveries.at(-1);
  const isLast = !isCut && (deliveries.length < limit || (after === undefined && next >= total));
  if (last === undefined || isLast) return { ...shown, cursor: null };
  const position = { key: last.createdAt, id: String(last.seq), offset: next, total };
  return { ...shown, cursor: encodePosition(position) };
}
