/** The events of webhooks and workflows. */
import { namesIn, OTHER_EVENTS, ROOM_EVENTS } from "@atrium/contract/resources/event-names.ts";
import type { EventName } from "@atrium/contract/resources/events.ts";

/** The sentence about each. */
export const EVENTS = { ...ROOM_EVENTS, ...OTHER_EVENTS };

export { isAboutUser } from "@atrium/contract/resources/event-names.ts";

/** Events that belong to a room. */
export const isEventName = (name: string): name is EventName => Object.hasOwn(ROOM_EVENTS, name);
/** The events for webhooks. */
export const WEBHOOK_EVENT_NAMES = namesIn(EVENTS);
/** The events for workflows. */
export const EVENT_NAMES = namesIn(ROOM_EVENTS);
