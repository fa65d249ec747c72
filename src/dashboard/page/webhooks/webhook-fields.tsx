/** The form of a webhook: endpoint, events and rooms. */
import type { Webhook } from "atrium/server";
import { useState } from "react";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { RoomChoice } from "../rooms/room-choice.tsx";
import { EventChoice } from "../ui/event-choice.tsx";
import { Form } from "../ui/form.tsx";
import { TextField } from "../ui/text-field.tsx";
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
    <Form {...form} onSubmit={({ url = "" }) => onSubmit({ url, events, roomId })}>
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
    </Form>
  );
}
