/** The actions on a webhook: test, enable, send again, rotate the secret, delete. */
import { useQueryClient } from "@tanstack/react-query";
import type { Webhook } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { DAY_MS } from "../../../platform/time.ts";
import { useAction, useKey } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmAction, ConfirmButton, FormDialog, Secret, type Values } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { SECRET_ADVICE } from "./webhook-form.tsx";

export function WebhookActions({ webhook: { id, enabled } }: { readonly webhook: Webhook }) {
  const [, go] = useLocation();
  const enable = useEnableWebhook(id);
  const test = useAction(({ webhooks }) => webhooks.test(id), {
    notice: ({ status, error }) =>
      status === "success" ? "Test delivered" : `Test failed${error ? `: ${error}` : ""}`,
    isFailure: ({ status }) => status !== "success",
    refreshes: [["webhook", id, "deliveries"]],
    notifiesErrors: true,
  });
  const rotate = useAction(({ webhooks }) => webhooks.rotateSecret(id), { refreshes: [["webhook", id]] });
  return (
    <>
      <Button variant="primary" icon="run" isBusy={test.isPending} onClick={() => test.mutate()}>
        {test.isPending ? "Sending…" : "Send test event"}
      </Button>
      <Button isBusy={enable.isPending} onClick={() => enable.mutate(!enabled)}>
        {enabled ? "Disable" : "Enable"}
      </Button>
      {enabled && <ReplayButton webhookId={id} />}
      <ConfirmButton
        label="Rotate secret"
        title="Rotate the signing secret?"
        confirmLabel="Rotate"
        action={rotate}
      >
        <p>
          Deliveries are signed with both secrets for 24 hours. Rotating again invalidates the old secret at
          once.
        </p>
      </ConfirmButton>
      <ConfirmAction
        label="Delete"
        title="Delete this webhook?"
        confirmLabel="Delete webhook"
        act={({ webhooks }) => webhooks.delete(id)}
        options={{
          notice: "Webhook deleted",
          refreshes: [["webhooks"]],
          onDone: () => go("/webhooks"),
        }}
      >
        <p>This cancels pending deliveries and deletes the delivery history. This cannot be undone.</p>
      </ConfirmAction>
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

/** Optimistic: shows the new state at once and reverts it on an error. */
function useEnableWebhook(id: string) {
  const queries = useQueryClient();
  const queryKey = useKey()("webhook", id);
  const show = (enabled: boolean) =>
    queries.setQueryData<Webhook>(queryKey, (known) => known && { ...known, enabled });
  return useAction(
    async ({ webhooks }, enabled: boolean) => {
      show(enabled);
      try {
        return await webhooks.update(id, { enabled });
      } catch (error) {
        show(!enabled);
        throw error;
      }
    },
    {
      notice: ({ enabled }) => (enabled ? "Webhook enabled" : "Webhook disabled"),
      refreshes: [["webhook", id], ["webhooks"]],
      notifiesErrors: true,
    },
  );
}

/** As a field of type `datetime-local` has it: the person's local time, to the minute. */
const toLocal = (epochMs: number): string => {
  const offsetMs = new Date(epochMs).getTimezoneOffset() * 60_000;
  return new Date(epochMs - offsetMs).toISOString().slice(0, 16);
};

/** RFC 3339 timestamps; the end includes the minute that the field shows. */
const toSpan = ({ from = "", to = "", status }: Values) => ({
  from: new Date(from).toISOString(),
  to: new Date(Date.parse(`${to}:59.999`)).toISOString(),
  ...(status === "failed" && ({ status } as const)),
});

/** Sends events of a time to the webhook again. */
function ReplayButton({ webhookId }: { readonly webhookId: string }) {
  const replay = useAction(
    ({ webhooks }, span: ReturnType<typeof toSpan>) => webhooks.replay(webhookId, span),
    {
      notice: "Sending again",
      refreshes: [
        ["webhook", webhookId, "deliveries"],
        ["webhook", webhookId, "replay"],
      ],
    },
  );
  return (
    <FormDialog
      button={{ children: "Send again" }}
      title="Send events again"
      about="Sends the events of a time again that this webhook listens to, with the same IDs. Events of a room stay in order."
      submitLabel="Send again"
      action={replay}
      toInput={toSpan}
    >
      <ReplayFields />
    </FormDialog>
  );
}

function ReplayFields() {
  const [now] = useState(Date.now);
  return (
    <>
      <TextField
        label="From"
        name="from"
        type="datetime-local"
        required
        defaultValue={toLocal(now - DAY_MS)}
      />
      <TextField label="To" name="to" type="datetime-local" required defaultValue={toLocal(now)} />
      <SelectField label="Which" name="status">
        <option value="">All events in the log</option>
        <option value="failed">Only failed deliveries</option>
      </SelectField>
    </>
  );
}
