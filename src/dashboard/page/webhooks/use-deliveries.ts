/** Queries and actions for the deliveries of a webhook. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Delivery } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

const REFRESH_MS = 2000;

export interface DeliveryFilter {
  readonly limit: number;
  readonly offset: number;
  readonly status?: Delivery["status"];
  readonly event?: Delivery["event"];
}

export function useDeliveries(webhookId: string, filter: DeliveryFilter) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("webhook", webhookId, "deliveries", filter),
    queryFn: () => atrium.webhooks.listDeliveries(webhookId, filter),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

const describeOutcome = ({ status, error }: Delivery): string =>
  status === "success" ? "Test delivered" : `Test failed${error ? `: ${error}` : ""}`;

export function useTestWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.webhooks.test(webhookId), {
    notice: describeOutcome,
    isFailure: ({ status }) => status !== "success",
    invalidates: [key("webhook", webhookId, "deliveries")],
  });
}

export function useRedeliver(webhookId: string, deliveryId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.webhooks.redeliver(webhookId, deliveryId), {
    notice: "Redelivery queued",
    invalidates: [key("webhook", webhookId, "deliveries")],
  });
}

/** Of the deliveries that a list shows. */
export function useRedeliverAll(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((ids: readonly string[]) => atrium.webhooks.redeliverAll(webhookId, ids), {
    notice: ({ redelivered }) =>
      redelivered === 1 ? "Redelivery queued" : `${redelivered} redeliveries queued`,
    invalidates: [key("webhook", webhookId, "deliveries")],
  });
}
