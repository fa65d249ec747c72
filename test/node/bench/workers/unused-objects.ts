/** Not used: wrangler requires the objects of wrangler.toml to be exported. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";

export class SubscriberObject extends DurableObject {}

export class EventLogObject extends DurableObject {}

export class GuessLimitObject extends DurableObject {}

export class InboxObject extends DurableObject {}

export class RequestLogObject extends DurableObject {}

export class RequestRateObject extends DurableObject {}

export class RoomObject extends DurableObject {}
