/** Not used: wrangler wants to see the objects of wrangler.toml exported. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";

export class SubscriberObject extends DurableObject {}
