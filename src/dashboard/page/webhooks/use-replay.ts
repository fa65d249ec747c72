/** The query and the action for the replays of a webhook. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

const REFRESH_MS = 2000;

/** RFC 3339 timestamps. */
export interface ReplaySpan {
  readonly from: string;
  readonly to: string;
  readonly status?: "failed";
}

/** The latest replay, followed while it runs; null when there was none. */
export function useLatestReplay(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("webhook", webhookId, "replay"),
    queryFn: () => atrium.webhooks.getReplay(webhookId),
    refetchInterval: ({ state }) => (state.data?.state === "running" ? REFRESH_MS : false),
  });
}

export function useReplay(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((span: ReplaySpan) => atrium.webhooks.replay(webhookId, span), {
    notice: "Sending again",
    invalidates: [key("webhook", webhookId, "deliveries"), key("webhook", webhookId, "replay")],
    isForm: true,
  });
}
