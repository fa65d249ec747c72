/** Queries and actions for the deliveries of a webhook. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Delivery } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { allAtOnce } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import type { BulkAction } from "../ui/several.tsx";

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

/** What can be done with several deliveries: one request for all of them. */
export function useDeliveryActions(webhookId: string): readonly BulkAction<Delivery>[] {
  const { webhooks } = useCurrent().atrium;
  const redeliver = async (deliveries: readonly Delivery[]) => {
    const { missing } = await webhooks.redeliverAll(
      webhookId,
      deliveries.map(({ id }) => id),
    );
    return new Map(missing.map((id) => [id, new Error("It is not kept any more.")]));
  };
  return [
    {
      label: "Redeliver",
      done: "queued again",
      consequences: "The receiver gets their events once more, with the same IDs, as new deliveries.",
      run: allAtOnce(redeliver, ({ id }) => id),
    },
  ];
}
