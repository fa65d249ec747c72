/** The room's lasting content, made of its parts: all of them log what they change. */

import type { StoreEvents } from "../outbox/delayed-events.ts";
import type { CommentEvents, CurrentCause } from "../outbox/room-events.ts";
import { Changes } from "./changes.ts";
import { type CommentPorts, Comments } from "./comments.ts";
import { Follows } from "./follows.ts";
import type { StoreQuota } from "./stats-projection.ts";
import { Stores } from "./stores.ts";

export interface RoomContent {
  readonly changes: Changes;
  readonly stores: Stores;
  readonly comments: Comments;
  readonly follows: Follows;
  /** For the events of what a request changes. */
  readonly causes: CurrentCause;
}

export interface ContentPorts extends CommentPorts {
  /** What all stores of the room may have together, in bytes of keys and of JSON. */
  readonly storeQuotaBytes: number;
}

export function openContent(
  ports: ContentPorts,
  events: { readonly comments: CommentEvents; readonly stores: StoreEvents; readonly causes: CurrentCause },
  organization: StoreQuota,
): RoomContent {
  const { storage, storeQuotaBytes } = ports;
  const changes = new Changes(
    storage,
    () => ports.now(),
    () => ports.newId(),
  );
  return {
    changes,
    stores: new Stores(storage, changes, events.stores, { roomBytes: storeQuotaBytes, organization }),
    comments: new Comments(ports, changes, events.comments, organization),
    follows: new Follows(storage, changes),
    causes: events.causes,
  };
}
