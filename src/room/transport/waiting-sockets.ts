/** The sockets that have not joined, by address: whether another one may wait, and which one gives way to it. */
import { MAX_WAITING_PER_ADDRESS, MAX_WAITING_SOCKETS } from "../protocol/protocol.ts";
import type { Authorizing, Waiting } from "./connection.ts";

/** The phases of an address's sockets by id, oldest first. No such map is empty. */
type SocketsOfAddress = Map<string, (Waiting | Authorizing)["phase"]>;

export class WaitingSockets {
  readonly #byAddress = new Map<string, SocketsOfAddress>();
  #size = 0;

  add({ id, address, phase }: Waiting | Authorizing): void {
    const sockets = this.#byAddress.get(address);
    if (sockets === undefined) this.#byAddress.set(address, new Map([[id, phase]]));
    else sockets.set(id, phase);
    this.#size += 1;
  }

  remove({ id, address }: Waiting | Authorizing): void {
    const sockets = this.#byAddress.get(address);
    if (!sockets?.delete(id)) return;
    this.#size -= 1;
    if (sockets.size === 0) this.#byAddress.delete(address);
  }

  /**
   * The socket that gives way to a new one from `address`: the oldest that has sent nothing, of the same address if
   * that has its share, or else of the address that has the most. Null when there is room, and "none" when all of
   * them are joining.
   */
  giveWayTo(address: string): string | "none" | null {
    const own = this.#byAddress.get(address);
    if (own !== undefined && own.size >= MAX_WAITING_PER_ADDRESS) return oldestSilent(own) ?? "none";
    if (this.#size < MAX_WAITING_SOCKETS) return null;
    const bySize = [...this.#byAddress.values()].sort((one, other) => other.size - one.size);
    for (const sockets of bySize) {
      const silent = oldestSilent(sockets);
      if (silent !== null) return silent;
    }
    return "none";
  }
}

/** A client that means to join sends `JOIN_ROOM` at once, so the oldest of the others is the last to be one. */
function oldestSilent(sockets: SocketsOfAddress): string | null {
  for (const [id, phase] of sockets) {
    if (phase === "waiting") return id;
  }
  return null;
}
