/** The form of a webhook: endpoint, events and rooms. */
import type { Webhook } from "atrium/server";
import { useState } from "react";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { RoomChoice } from "../rooms/room-choice.tsx";
import { EventChoice, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import type { WebhookInput } from "./use-webhooks.ts";

export interface WebhookFieldsProps {
  /** Null for a new one. */
  readonly webhook: Webhook | null;
  readonly submitLabel: string;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onSubmit: (input: WebhookInput) => void;
  readonly onCancel?: () => void;
}

export function WebhookFields({ webhook, onSubmit, ...form }: WebhookFieldsProps) {
  const [events, setEvents] = useState<WebhookInput["events"]>(webhook?.events ?? []);
  const [roomId, setRoomId] = useState(webhook?.room_id ?? null);
  return (
    <Form
      {...form}
      onSubmit={({ url = "", maxEvents = "1", maxWait = "1" }) =>
        onSubmit({ url, events, roomId, batch: batchOf(maxEvents, maxWait) })
      }
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
      <EventChoice names={WEBHOOK_EVENT_NAMES} chosen={events} onChange={setEvents} />
      <RoomChoice chosen={roomId} onChange={setRoomId} />
      <TextField
        label="Events per request"
        name="maxEvents"
        type="number"
        required
        min={1}
        max={100}
        defaultValue={String(webhook?.batch?.max_events ?? 1)}
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
        defaultValue={String((webhook?.batch?.max_wait_ms ?? 1_000) / 1_000)}
        hint="How long the first event of a request waits for others."
      />
    </Form>
  );
}

/** One event for each request is no batch. */
function batchOf(events: string, waitSeconds: string): WebhookInput["batch"] {
  const [maxEvents, maxWaitMs] = [Number(events), Math.round(Number(waitSeconds) * 1_000)];
  return maxEvents > 1 ? { maxEvents, maxWaitMs } : null;
}
