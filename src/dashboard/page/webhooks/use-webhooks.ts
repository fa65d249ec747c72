/** Queries and actions for webhooks. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Webhook, WebhookEventName, WebhookSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

export function useWebhooks(search: WebhookSearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("webhooks", search),
    queryFn: () => atrium.webhooks.list(search),
    placeholderData: keepPreviousData,
  });
}

export function useWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("webhook", webhookId),
    queryFn: () => atrium.webhooks.get(webhookId),
  });
}

export interface WebhookInput {
  readonly url: string;
  readonly events: readonly WebhookEventName[];
  readonly roomId: string | null;
  /** Null for a request for each event. */
  readonly batch: { readonly maxEvents: number; readonly maxWaitMs: number } | null;
}

export function useCreateWebhook() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((webhook: WebhookInput) => atrium.webhooks.create(webhook), {
    invalidates: [key("webhooks")],
    isForm: true,
  });
}

export function useUpdateWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((changes: WebhookInput) => atrium.webhooks.update(webhookId, changes), {
    notice: "Webhook saved",
    invalidates: [key("webhook", webhookId), key("webhooks")],
    isForm: true,
  });
}

/** Optimistic: shows the new state at once and reverts it on an error. */
export function useEnableWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const queries = useQueryClient();
  const show = (isOn: boolean) =>
    queries.setQueryData<Webhook>(key("webhook", webhookId), (known) => known && { ...known, enabled: isOn });
  const enable = async (enabled: boolean) => {
    show(enabled);
    try {
      return await atrium.webhooks.update(webhookId, { enabled });
    } catch (error) {
      show(!enabled);
      throw error;
    }
  };
  return useAction(enable, {
    notice: ({ enabled }) => (enabled ? "Webhook enabled" : "Webhook disabled"),
    invalidates: [key("webhook", webhookId), key("webhooks")],
  });
}

export function useRotateSecret(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.webhooks.rotateSecret(webhookId), {
    invalidates: [key("webhook", webhookId)],
    isForm: true,
  });
}

export function useDeleteWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.webhooks.delete(webhookId), {
    notice: "Webhook deleted",
    invalidates: [key("webhooks")],
    isForm: true,
  });
}
