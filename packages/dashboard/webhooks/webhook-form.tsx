/** The form of a webhook, and the button that creates one. */
import type { Webhook, WebhookInput } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { isEventName, WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { useAction } from "../data/organization.tsx";
import { RoomChoice } from "../rooms/rooms.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog, Secret } from "../ui/dialog.tsx";
import { EventChoice } from "../ui/event-field.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form, type FormProps } from "../ui/form.tsx";

interface WebhookFormProps extends Omit<FormProps<WebhookInput>, "toInput"> {
  /** Null for a new one. */
  readonly webhook: Webhook | null;
}

export function WebhookForm({ webhook, ...form }: WebhookFormProps) {
  const [events, setEvents] = useState<WebhookInput["events"]>(webhook?.events ?? []);
  const [roomId, setRoomId] = useState(webhook?.room_id ?? null);
  const agentId = webhook?.identity_id;
  return (
    <Form
      {...form}
      toInput={({ url = "", maxEvents = "1", maxWait = "1" }) => ({
        url,
        events,
        roomId,
        batch: batchOf(Number(maxEvents), Number(maxWait)),
      })}
    >
      <TextField
        label="Endpoint"
        name="url"
        type="url"
        required
        maxLength={2048}
        placeholder="https://hooks.example.com/atrium"
        defaultValue={webhook?.url ?? ""}
        hint="A public https URL. With npm start, http://localhost works too."
      />
      {agentId === undefined ? (
        <EventChoice names={WEBHOOK_EVENT_NAMES} chosen={events} onChange={setEvents} />
      ) : (
        <p role="note">
          It receives the mentions of <Link href={`/people/identities/${agentId}`}>one agent</Link> alone, and
          is deleted with it.
        </p>
      )}
      <RoomChoice chosen={roomId} onChange={setRoomId} />
      {roomId !== null && !events.every(isEventName) && (
        <p className="soft small" role="status">
          Events that belong to no room, such as those of identities, reach webhooks of all rooms only.
        </p>
      )}
      {agentId === undefined && <BatchFields batch={webhook?.batch} />}
    </Form>
  );
}

/** An agent gets its mentions one by one. */
function BatchFields({ batch }: Pick<Webhook, "batch">) {
  return (
    <>
      <TextField
        label="Events per request"
        name="maxEvents"
        type="number"
        required
        min={1}
        max={100}
        defaultValue={String(batch?.max_events ?? 1)}
        hint="With more than one, a request has a JSON array of events."
      />
      <TextField
        label="Longest wait for more (seconds)"
        name="maxWait"
        type="number"
        required
        min={0}
        max={60}
        step="any"
        defaultValue={String((batch?.max_wait_ms ?? 1_000) / 1_000)}
        hint="How long the first event of a request waits for others."
      />
    </>
  );
}

/** The fields of a webhook in the form. */
export const savedInput = ({ url, events, room_id, batch }: Webhook): WebhookInput => ({
  url,
  events,
  roomId: room_id,
  batch: batch ? { maxEvents: batch.max_events, maxWaitMs: batch.max_wait_ms } : null,
});

/** One event for each request is no batch. */
const batchOf = (maxEvents: number, waitSeconds: number): WebhookInput["batch"] =>
  maxEvents > 1 ? { maxEvents, maxWaitMs: Math.round(waitSeconds * 1_000) } : null;

export const SECRET_ADVICE =
  "Your endpoint verifies signatures with it (verifyWebhook in atrium/server). You will not see it again.";

/** Creates a webhook and shows its secret once. */
export function NewWebhook() {
  const [isOpen, setOpen] = useState(false);
  const create = useAction(({ webhooks }, webhook: WebhookInput) => webhooks.create(webhook), {
    refreshes: [["webhooks"]],
  });
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
      <Dialog title="New webhook" isWide isOpen={isOpen && created === undefined} onClose={close}>
        <WebhookForm webhook={null} submitLabel="Create webhook" action={create} onCancel={close} />
      </Dialog>
      <Secret
        title="Signing secret"
        about={SECRET_ADVICE}
        secret={created?.secret ?? null}
        what="the secret"
        onDone={() => {
          close();
          if (created !== undefined) go(`/webhooks/${created.id}`);
        }}
      />
    </>
  );
}
