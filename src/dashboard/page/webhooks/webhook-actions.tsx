/** The actions on a webhook: test, enable, rotate the secret, delete. */
import type { Webhook } from "atrium/server";
import { useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Secret } from "../ui/copy.tsx";
import { ReplayButton } from "./replay-button.tsx";
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
      <Button variant="primary" icon="run" isBusy={test.isPending} onClick={() => test.mutate()}>
        {test.isPending ? "Sending…" : "Send test event"}
      </Button>
      <Button isBusy={enable.isPending} onClick={() => enable.mutate(!webhook.enabled)}>
        {webhook.enabled ? "Disable" : "Enable"}
      </Button>
      {webhook.enabled && <ReplayButton webhookId={webhook.id} />}
      <ConfirmButton
        label="Rotate secret"
        title="Rotate the signing secret?"
        confirmLabel="Rotate"
        act={rotate}
      >
        <p>
          Deliveries are signed with both secrets for 24 hours. Rotating again invalidates the old secret at
          once.
        </p>
      </ConfirmButton>
      <ConfirmButton
        label="Delete"
        title="Delete this webhook?"
        confirmLabel="Delete webhook"
        act={removeAndLeave}
      >
        <p>This cancels pending deliveries and deletes the delivery history. This cannot be undone.</p>
      </ConfirmButton>
      <Secret
        title="New signing secret"
        about={SECRET_ADVICE}
        secret={rotate.data?.secret ?? null}
        what="the secret"
        onDone={rotate.reset}
      />
    </>
  );
}
