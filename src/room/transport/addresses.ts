/** What addresses spend on connecting to the room: sockets that do not join cost more than those that do. */
import { TokenBucket } from "../../platform/flow/token-bucket.ts";
import {
  CONNECTION_COST,
  CONNECTIONS_OF_ADDRESS,
  MAX_CONNECTION_DEBT,
  UNJOINED_COST,
} from "../protocol/costs.ts";

/** From this many addresses on, those that have spent nothing lately are forgotten. */
const MANY_ADDRESSES = 1_000;

/** Memory only, like all budgets: they are full again before the object may hibernate, or soon afterwards. */
export class Addresses {
  readonly #budgets = new Map<string, TokenBucket>();

  /** Milliseconds until a socket of the address may connect; 0 for now. */
  connectableIn(address: string, now: number): number {
    return this.#budgets.get(address)?.affordableIn(now) ?? 0;
  }

  /** A socket has connected. */
  countConnected(address: string, now: number): void {
    this.#spend(address, CONNECTION_COST, now);
  }

  /** A socket was closed that had not joined. */
  countUnjoined(address: string, now: number): void {
    this.#spend(address, UNJOINED_COST, now);
  }

  #spend(address: string, cost: number, now: number): void {
    const known = this.#budgets.get(address);
    if (known === undefined && this.#budgets.size >= MANY_ADDRESSES) this.#forget(now);
    const budget = known ?? new TokenBucket(CONNECTIONS_OF_ADDRESS, now);
    this.#budgets.set(address, budget);
    budget.spend(Math.min(cost, budget.left(now) + MAX_CONNECTION_DEBT), now);
  }

  #forget(now: number): void {
    for (const [address, budget] of this.#budgets) if (budget.isFull(now)) this.#budgets.delete(address);
  }
}
