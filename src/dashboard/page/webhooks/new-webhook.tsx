/** The button and dialogs that create a webhook and show its secret once. */
import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button } from "../ui/button.tsx";
import { Secret } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SECRET_ADVICE } from "./secret-advice.ts";
import { useCreateWebhook } from "./use-webhooks.ts";
import { WebhookFields } from "./webhook-fields.tsx";

export function NewWebhook() {
  const [isOpen, setOpen] = useState(false);
  const create = useCreateWebhook();
  const address = useAddress();
  const [, go] = useLocation();
  const created = create.data;
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button variant="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New webhook
      </Button>
      <Dialog title="New webhook" isOpen={isOpen && created === undefined} onClose={close}>
        <WebhookFields
          webhook={null}
          submitLabel="Create webhook"
          error={create.error}
          isBusy={create.isPending}
          onSubmit={create.mutate}
          onCancel={close}
        />
      </Dialog>
      <Secret
        title="Signing secret"
        about={SECRET_ADVICE}
        secret={created?.secret ?? null}
        what="the secret"
        onDone={() => {
          close();
          if (created !== undefined) go(address(`/webhooks/${created.id}`));
        }}
      />
    </>
  );
}
