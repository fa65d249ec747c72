/** Makes a webhook, and shows its secret for the only time. */
import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Secret } from "../ui/secret.tsx";
import { SECRET_ADVICE } from "./secret-advice.ts";
import { useCreateWebhook } from "./use-webhooks.ts";
import { WebhookFields } from "./webhook-fields.tsx";

export function NewWebhook() {
  const [isOpen, setOpen] = useState(false);
  const create = useCreateWebhook();
  const address = useAddress();
  const [, go] = useLocation();
  const made = create.data;
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button look="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New webhook
      </Button>
      <Dialog title="New webhook" isOpen={isOpen && made === undefined} onClose={close}>
        <WebhookFields
          webhook={null}
          verb="Create webhook"
          error={create.error}
          isBusy={create.isPending}
          onSubmit={create.mutate}
          onCancel={close}
        />
      </Dialog>
      <Secret
        title="The webhook's secret"
        about={SECRET_ADVICE}
        secret={made?.secret ?? null}
        what="the secret"
        onKept={() => {
          close();
          if (made !== undefined) go(address(`/webhooks/${made.id}`));
        }}
      />
    </>
  );
}
