/** The fields of a workflow beside its code, as the text that a draft keeps. */
import { isEventName } from "../data/events.ts";
import type { WorkflowInput } from "./use-workflows.ts";

export type Fields = Omit<WorkflowInput, "code">;

/** The same text for the same fields, in whatever order the events were chosen. */
export const writeFields = ({ name, events, roomId, retries, schedule, httpTrigger }: Fields): string =>
  JSON.stringify({ name, events: events.toSorted(), roomId, retries, schedule, httpTrigger });

/** What {@link writeFields} wrote; an earlier version of the page may have written something else. */
export function readFields(text: string): Fields {
  const { name, events, roomId, retries, schedule, httpTrigger } = parse(text);
  return {
    name: typeof name === "string" ? name : "",
    events: Array.isArray(events) ? events.map(String).filter(isEventName) : [],
    roomId: typeof roomId === "string" ? roomId : null,
    retries: typeof retries === "number" ? retries : 0,
    schedule: readSchedule(schedule),
    httpTrigger: httpTrigger === true,
  };
}

function readSchedule(value: unknown): Fields["schedule"] {
  const { cron, timezone } = Object(value) as Partial<Record<"cron" | "timezone", unknown>>;
  return typeof cron === "string" && typeof timezone === "string" ? { cron, timezone } : null;
}

function parse(text: string): Partial<Record<keyof Fields, unknown>> {
  try {
    return Object(JSON.parse(text)) as Partial<Record<keyof Fields, unknown>>;
  } catch {
    return {};
  }
}
