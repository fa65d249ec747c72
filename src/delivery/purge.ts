/** Removes the subscribers of a deleted organization with what they have recorded, in slices. */
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import type { Slices } from "../platform/flow/slices.ts";
import type { SubscriberGateway, SubscriberKey } from "./port/subscriber-port.ts";

const AT_ONCE = 50;

/** How subscribers of one kind are removed. */
export interface Purge {
  /** So that no event reaches an object whose records are gone. */
  disableAll(): Statement;
  /** At most so many. */
  selectSome(limit: number): Statement<{ readonly id: string }>;
  keyOf(id: string): SubscriberKey;
  /** Deletes the row of one whose object is empty. */
  remove(id: string): readonly [Statement, ...Statement[]];
}

/** Removes subscribers until none or no slice is left, and returns true if none is. */
export async function purgeSubscribers(
  { db, accountId }: Tenant,
  subscribers: Pick<SubscriberGateway, "remove" | "subscriptionsChanged">,
  slices: Slices,
  purge: Purge,
): Promise<boolean> {
  return slices.finish(async () => {
    const [, found] = await db.run([purge.disableAll(), purge.selectSome(AT_ONCE)]);
    await subscribers.subscriptionsChanged(accountId);
    await Promise.all(found.map(({ id }) => subscribers.remove(purge.keyOf(id))));
    const [first, ...others] = found.flatMap(({ id }) => purge.remove(id));
    if (first !== undefined) await db.run([first, ...others]);
    return { isFull: found.length === AT_ONCE };
  });
}
