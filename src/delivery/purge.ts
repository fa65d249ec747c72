/** Removes the subscribers of a deleted organization with what they have recorded, in chunks. */
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import type { WorkBudget } from "../platform/flow/work-budget.ts";
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

/** Removes subscribers until none is left (true) or the budget is spent. */
export async function purgeSubscribers(
  { db, accountId }: Tenant,
  subscribers: Pick<SubscriberGateway, "remove" | "subscriptionsChanged">,
  budget: WorkBudget,
  purge: Purge,
): Promise<boolean> {
  return budget.run(async () => {
    const [, found] = await db.run([purge.disableAll(), purge.selectSome(AT_ONCE)]);
    await subscribers.subscriptionsChanged(accountId);
    await Promise.all(found.map(({ id }) => subscribers.remove(purge.keyOf(id))));
    const [first, ...others] = found.flatMap(({ id }) => purge.remove(id));
    if (first !== undefined) await db.run([first, ...others]);
    return found.length === AT_ONCE;
  });
}
