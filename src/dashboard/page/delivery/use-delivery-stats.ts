/** The query for the figures of a webhook or a workflow. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { DeliveryStats } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

const REFRESH_MS = 10_000;

export interface Subject {
  readonly kind: "webhook" | "workflow";
  readonly id: string;
}

export function useDeliveryStats({ kind, id }: Subject, range: DeliveryStats["range"]) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key(kind, id, "stats", range),
    queryFn: () =>
      kind === "webhook" ? atrium.webhooks.stats(id, range) : atrium.workflows.stats(id, range),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
