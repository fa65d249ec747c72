/** Does something for each organization of a deployment, some at a time. One that fails stops no other. */
import { CommandError } from "../process/command.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What could not be done for an organization, and why. */
export interface Failure extends Named {
  readonly why: string;
}

/** So many at a time: as many as one command can wait for without being in the way of other requests. */
const AT_ONCE = 4;

/**
 * Returns those that failed. When one does, `isOver` says whether that is as well, because the organization does not need
 * it any more. It throws when the service does nothing for the deployment either: then everything ends, and what is under
 * way is waited for.
 */
export async function eachOrganization<Organization extends Named>(
  organizations: AsyncIterable<Organization>,
  handle: (organization: Organization) => Promise<void>,
  isOver: (organization: Organization) => Promise<boolean>,
): Promise<readonly Failure[]> {
  const iterator = organizations[Symbol.asyncIterator]();
  const failures: Failure[] = [];
  let hasEnded = false;
  const attempt = async (organization: Organization): Promise<void> => {
    try {
      await handle(organization);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { id, name } = organization;
      if (!(await isOver(organization))) failures.push({ id, name, why: error.message });
    }
  };
  const work = async (): Promise<void> => {
    try {
      while (!hasEnded) {
        const next = await iterator.next();
        if (next.done) return;
        await attempt(next.value);
      }
    } finally {
      hasEnded = true;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
  return failures;
}
