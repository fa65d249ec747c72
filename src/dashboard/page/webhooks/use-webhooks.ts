/** The webhooks of the organization, and what can be done to one. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import type { EventName, Webhook } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

export interface WebhookSearch {
  readonly limit: number;
  readonly offset: number;
  readonly search?: string;
}

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
  readonly events: readonly EventName[];
  readonly roomId: string | null;
}

export function useCreateWebhook() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((webhook: WebhookInput) => atrium.webhooks.create(webhook), {
    touches: [key("webhooks")],
    isForm: true,
  });
}

export function useUpdateWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((changes: WebhookInput) => atrium.webhooks.update(webhookId, changes), {
    done: "Webhook saved",
    touches: [key("webhook", webhookId), key("webhooks")],
    isForm: true,
  });
}

/** Shows the new state at once, and the old one again if the service says no. */
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
  return useAct(enable, {
    done: ({ enabled }) => (enabled ? "Webhook switched on" : "Webhook switched off"),
    touches: [key("webhook", webhookId), key("webhooks")],
  });
}

export function useRotateSecret(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.webhooks.rotateSecret(webhookId), {
    touches: [key("webhook", webhookId)],
    isForm: true,
  });
}

export function useDeleteWebhook(webhookId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.webhooks.delete(webhookId), {
    done: "Webhook deleted",
    touches: [key("webhooks")],
    isForm: true,
  });
}
