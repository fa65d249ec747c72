/** The request behind an event, as deliveries and runs show it. */
import * as z from "zod";
import type { DeliveryRecord } from "../../delivery/port/delivery-record.ts";
import { readTrace } from "../../platform/trace.ts";

/** Fields of deliveries and executions on the wire. */
export const TRACED = {
  request_id: z.string().optional().meta({
    description:
      "The ID of the request that caused the event; of what a WebSocket did, that of the request that opened it. Absent when no single request did.",
  }),
  frame_id: z.string().optional().meta({
    description: "Of what a WebSocket did: the `requestId` of the message, at most 128 characters of it.",
  }),
};

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
