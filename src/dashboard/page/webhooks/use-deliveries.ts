/** What was and is to be delivered to a webhook, and sending it once more. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Delivery } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

const REFRESH_MS = 2000;

export interface DeliveryFilter {
  readonly limit: number;
  readonly offset: number;
  readonly status?: Delivery["status"];
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

const tellOutcome = ({ status, error }: Delivery): string =>
  status === "success" ? "It has arrived" : `It has not arrived${error ? `: ${error}` : ""}`;

export function useTestWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.webhooks.test(webhookId), {
    done: tellOutcome,
    isFailure: ({ status }) => status !== "success",
    touches: [key("webhook", webhookId, "deliveries")],
  });
}

export function useRedeliver(webhookId: string, deliveryId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.webhooks.redeliver(webhookId, deliveryId), {
    done: "Sent once more",
    touches: [key("webhook", webhookId, "deliveries")],
  });
}
