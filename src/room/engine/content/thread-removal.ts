/** Removes the comments of deleted threads, some in each alarm of the room: others in it wait for none of them. */
import type { ServerEvent } from "../../protocol/protocol.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { Changes } from "./changes.ts";
import type { RoomComments } from "./comments.ts";

const RETRY_DELAY_MS = 1_000;

export class ThreadRemoval {
  readonly #ports: Pick<RoomPorts, "storage" | "now">;
  readonly #changes: Changes;
  readonly #comments: Pick<RoomComments, "removeEnded">;
  #notBefore = 0;

  constructor(
    ports: Pick<RoomPorts, "storage" | "now">,
    changes: Changes,
    comments: Pick<RoomComments, "removeEnded">,
  ) {
    this.#ports = ports;
    this.#changes = changes;
    this.#comments = comments;
  }

  /** When to go on (epoch ms); null while no comments are left of deleted threads. */
  dueAt(): number | null {
    if (this.#ports.storage.comments.findEnded() === null) return null;
    return Math.max(this.#ports.now(), this.#notBefore);
  }

  /** Returns the changes for everyone. Retries a failure after a second. */
  run(): ServerEvent[] {
    if ((this.dueAt() ?? Number.POSITIVE_INFINITY) > this.#ports.now()) return [];
    this.#notBefore = this.#ports.now() + RETRY_DELAY_MS;
    this.#changes.transaction(() => this.#comments.removeEnded());
    this.#notBefore = 0;
    return this.#changes.takeEvents();
  }
}
