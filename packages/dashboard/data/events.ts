/** The events of webhooks and workflows. */
import { namesIn, OTHER_EVENTS, ROOM_EVENTS } from "@atrium/contract/resources/event-names.ts";
import type { EventName } from "atrium/server";

/** The sentence about each. */
export const EVENTS = { ...ROOM_EVENTS, ...OTHER_EVENTS };

/** Events that belong to a room. */
export const isEventName = (name: string): name is EventName => Object.hasOwn(ROOM_EVENTS, name);
/** The events for webhooks. */
export const WEBHOOK_EVENT_NAMES = namesIn(EVENTS);
/** The events for workflows. */
export const EVENT_NAMES = namesIn(ROOM_EVENTS);
