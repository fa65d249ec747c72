/** What can be done to a webhook: test, switch, rotate, delete. */
import type { Webhook } from "atrium/server";
import { useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Secret } from "../ui/secret.tsx";
import { SECRET_ADVICE } from "./secret-advice.ts";
import { useTestWebhook } from "./use-deliveries.ts";
import { useDeleteWebhook, useEnableWebhook, useRotateSecret } from "./use-webhooks.ts";

export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const address = useAddress();
  const [, go] = useLocation();
  const test = useTestWebhook(webhook.id);
  const enable = useEnableWebhook(webhook.id);
  const rotate = useRotateSecret(webhook.id);
  const remove = useDeleteWebhook(webhook.id);
  const removeAndLeave = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go(address("/webhooks"));
    },
  };
  return (
    <>
      <Button look="primary" icon="run" isBusy={test.isPending} onClick={() => test.mutate()}>
        {test.isPending ? "Sending…" : "Send a test"}
      </Button>
      <Button isBusy={enable.isPending} onClick={() => enable.mutate(!webhook.enabled)}>
        {webhook.enabled ? "Switch off" : "Switch on"}
      </Button>
      <ConfirmButton label="Rotate secret" title="Rotate the secret?" verb="Rotate" act={rotate}>
        <p>The old secret signs beside the new one for 24 hours; a second rotation ends that at once.</p>
      </ConfirmButton>
      <ConfirmButton label="Delete" title="Delete this webhook?" verb="Delete webhook" act={removeAndLeave}>
        <p>What still waits is not delivered, and the record of its deliveries goes too.</p>
      </ConfirmButton>
      <Secret
        title="The new secret"
        about={SECRET_ADVICE}
        secret={rotate.data?.secret ?? null}
        what="the secret"
        onKept={rotate.reset}
      />
    </>
  );
}
