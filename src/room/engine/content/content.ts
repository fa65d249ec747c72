/** The room's lasting content, made of its parts: all of them log their changes. */
import type { EventCause } from "../../../wire/events.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { StoreEvents } from "../outbox/delayed-events.ts";
import type { EventPorts } from "../outbox/room-events.ts";
import { Changes } from "./changes.ts";
import { Comments } from "./comments.ts";
import { Follows } from "./follows.ts";
import { type StoreQuota, Stores } from "./stores.ts";
import { ThreadRemoval } from "./thread-removal.ts";
import { Threads } from "./threads.ts";

export class RoomContent {
  readonly changes: Changes;
  readonly stores: Stores;
  readonly threads: Threads;
  readonly comments: Comments;
  readonly follows: Follows;
  readonly threadRemoval: ThreadRemoval;
  /** Users and identities that were erased since the start: requests that were on their way then no longer name them. */
  readonly erased = new Set<string>();
  /** The workflow run whose request is handled, for the events that follow from it. Requests run one by one. */
  cause: EventCause | null = null;

  constructor(ports: RoomPorts, events: EventPorts, storeEvents: StoreEvents, quota: StoreQuota) {
    this.changes = new Changes(ports);
    this.stores = new Stores(ports, this.changes, storeEvents, quota);
    this.threads = new Threads(ports, this.changes);
    this.comments = new Comments(ports, this.changes, this.threads, events, quota, this.erased);
    this.follows = new Follows(ports.storage.follows, this.changes);
    this.threadRemoval = new ThreadRemoval(ports, this.changes, this.comments);
  }
}
