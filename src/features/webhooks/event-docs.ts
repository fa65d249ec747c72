/** Every event that a webhook can receive, with its schema, for the API description. */

import { namesIn, OTHER_EVENTS, ROOM_EVENTS } from "@atrium/contract/resources/event-names.ts";
import {
  Event,
  GroupEvent,
  IdentityEvent,
  NotificationEvent,
  type WebhookEventName,
} from "@atrium/contract/resources/events.ts";
import { WorkflowDisabledEvent } from "@atrium/contract/resources/workflow-events.ts";
import { WebhookBackloggedEvent } from "@atrium/contract/rest/webhooks.ts";
import type * as z from "zod";

interface DescribedEvent {
  readonly summary: string;
  readonly schema: z.ZodType;
}

const SENTENCES = { ...ROOM_EVENTS, ...OTHER_EVENTS };
const OF_NO_ROOM = [
  IdentityEvent,
  GroupEvent,
  NotificationEvent,
  WebhookBackloggedEvent,
  WorkflowDisabledEvent,
];

function schemaOf(name: WebhookEventName): z.ZodType {
  const schema = [...Event.options, ...OF_NO_ROOM].find(({ shape }) => shape.event.safeParse(name).success);
  if (schema === undefined) throw new Error(`The event ${name} has no schema`);
  return schema;
}

/** Descriptions of events in the order of their names. */
export const describeEvents = (): Readonly<Record<string, DescribedEvent>> =>
  Object.fromEntries(
    namesIn(SENTENCES).map((name) => [name, { summary: SENTENCES[name], schema: schemaOf(name) }]),
  );
