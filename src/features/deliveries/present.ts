/** The stats, traces and pages of deliveries as they are presented. */

import { AppError, type Module } from "@atrium/contract/errors.ts";
import type { DeliveryStats, DeliveryTotals } from "@atrium/contract/rest/deliveries.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import type {
  AttemptMetrics,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  SubscriberStats,
} from "../../delivery/subscriber/delivery.ts";
import { type PresentedScroll, presentScroll } from "../../http/lists.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { readTrace } from "../../platform/trace.ts";

const presentMetrics = ({ succeeded, failed, p50, p95, p99 }: AttemptMetrics) => ({
  succeeded,
  failed,
  success_rate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
  latency_ms: { p50, p95, p99 },
});

export const presentTotals = (
  range: DeliveryTotals["range"],
  { total, waiting, failing, lastSuccessAt }: SubscriberStats,
): DeliveryTotals => ({
  range,
  ...presentMetrics(total),
  waiting: waiting.deliveries,
  waiting_bytes: waiting.bytes,
  oldest_waiting_since: presentNullableTime(waiting.oldestAt),
  failing: failing && {
    since: presentTime(failing.since),
    error: failing.error,
    next_attempt_at: presentNullableTime(failing.nextAt),
  },
  last_success_at: presentNullableTime(lastSuccessAt),
});

export const presentStats = (range: DeliveryStats["range"], stats: SubscriberStats): DeliveryStats => ({
  ...presentTotals(range, stats),
  points: stats.points.map(({ at, waiting: most, ...rest }) => ({
    at: presentTime(at),
    ...presentMetrics(rest),
    waiting: most,
  })),
});

export function presentTraced({ trace }: Pick<DeliveryRecord, "trace">): {
  request_id?: string;
  frame_id?: string;
} {
  const { requestId, frameId } = readTrace(trace) ?? {};
  return {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(frameId === undefined ? {} : { frame_id: frameId }),
  };
}

/** The query for the subscriber's object. BAD_REQUEST, as of this module, for the cursor of another list. */
export function toDeliveryQuery(module: Module, { limit, offset, after }: Page): DeliveryQuery {
  if (after === undefined) return { limit, offset };
  if (!/^[1-9]\d{0,14}$/.test(after.id))
    throw new AppError(module, "BAD_REQUEST", "after must be the cursor of an earlier page of this list");
  return { limit, offset, beforeSeq: Number(after.id) };
}

/** The page as a response describes it. */
export const presentDeliveryPage = (
  page: Page,
  { deliveries, total, isCut }: DeliveryPage,
): PresentedScroll => presentScroll(page, [{ total }], deliveries, positionOf, isCut);

const positionOf = ({ createdAt, seq }: DeliveryRecord) => ({ key: createdAt, id: String(seq) });
