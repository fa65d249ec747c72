/** Events as JSON, and the chain of workflows behind them. Without schemas, which few requests need. */
import { presentTime } from "../time.ts";

/** The workflow behind an event, and the length of the chain of workflows. */
export interface EventCause {
  readonly workflowId: string;
  readonly depth: number;
}

export function depthOf(body: string): number {
  // Most events have none, and reading them costs more than finding that out.
  if (!body.includes('"depth":')) return 0;
  const { depth } = JSON.parse(body) as { readonly depth?: unknown };
  return typeof depth === "number" ? depth : 0;
}

/** The event as JSON, its fields in the order in which people read them. */
export function presentEvent<Draft extends { readonly event: string; readonly data: object }>(
  id: string,
  occurredAt: number,
  { event, data, ...rest }: Draft,
  cause: EventCause | null = null,
): string {
  const origin = cause === null ? {} : { depth: cause.depth, workflowId: cause.workflowId };
  return JSON.stringify({ id, event, timestamp: presentTime(occurredAt), ...origin, data, ...rest });
}
