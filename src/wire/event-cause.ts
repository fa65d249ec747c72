/** The run of a workflow that an event follows from. */

/** Which workflow's action has caused an event, and the how manyth such event it is in its chain. */
export interface EventCause {
  readonly workflowId: string;
  /** 1 for an action of a run that no other action has caused. */
  readonly depth: number;
}

/** A run is started for events up to this depth: more in a row look like a loop. */
export const MAX_CAUSE_DEPTH = 5;

/** The depth of an event by its JSON; 0 when no workflow has caused it. */
export function depthOf(body: string): number {
  // Most events have none, and reading them costs more than finding that out.
  if (!body.includes('"depth":')) return 0;
  const { depth } = JSON.parse(body) as { readonly depth?: unknown };
  return typeof depth === "number" ? depth : 0;
}
