/** The room's lasting content, made of its parts: all of them log their changes. */
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { StoreEvents } from "../outbox/delayed-events.ts";
import type { EventPorts } from "../outbox/room-events.ts";
import { ChangeFeed } from "./change-feed.ts";
import { Changes } from "./changes.ts";
import { RoomComments } from "./comments.ts";
import { RoomFollows } from "./follows.ts";
import { RoomStores, type StoreQuota } from "./stores.ts";
import { ThreadRemoval } from "./thread-removal.ts";
import { RoomThreads } from "./threads.ts";
import { RoomWakes } from "./wakes.ts";

export class RoomContent {
  readonly changes: Changes;
  readonly feed: ChangeFeed;
  readonly stores: RoomStores;
  readonly threads: RoomThreads;
  readonly comments: RoomComments;
  readonly wakes: RoomWakes;
  readonly follows: RoomFollows;
  readonly threadRemoval: ThreadRemoval;
  /** Users and identities that were erased since the start: requests that were on their way then no longer name them. */
  readonly erased = new Set<string>();
  /** The workflow run whose request is handled, for the events that follow from it. Requests run one by one. */
  cause: EventCause | null = null;

  /** `changed` is called when there are changes for readers of the {@link feed}. */
  constructor(
    ports: RoomPorts,
    events: EventPorts,
    storeEvents: StoreEvents,
    quota: StoreQuota,
    changed: () => void,
  ) {
    this.changes = new Changes(ports, () => {
      this.feed.changed();
      changed();
    });
    this.feed = new ChangeFeed(this.changes);
    this.stores = new RoomStores(ports, this.changes, storeEvents, quota);
    this.threads = new RoomThreads(ports, this.changes);
    this.comments = new RoomComments(ports, this.changes, this.threads, events, this.erased);
    this.wakes = new RoomWakes(events);
    this.follows = new RoomFollows(ports.storage.follows, this.changes);
    this.threadRemoval = new ThreadRemoval(ports, this.changes, this.comments);
  }
}
