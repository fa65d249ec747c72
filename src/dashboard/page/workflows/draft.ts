/**
 * The unsaved code and fields of a workflow. They are kept in this tab when one leaves the page or reloads it, until
 * they are saved or discarded.
 */
import type { EventName } from "atrium/server";
import { useEffect, useRef, useState } from "react";
import { isEventName } from "../data/events.ts";

export interface WorkflowInput {
  readonly name: string;
  readonly code: string;
  readonly events: readonly EventName[];
  readonly roomId: string | null;
  readonly retries: number;
  /** Null for none. */
  readonly schedule: { readonly cron: string; readonly timezone: string } | null;
  readonly httpTrigger: boolean;
}

/** The fields beside the code. */
export type Fields = Omit<WorkflowInput, "code">;

/** The same text for the same fields, in whatever order the events were chosen. */
export const writeFields = ({ name, events, roomId, retries, schedule, httpTrigger }: Fields): string =>
  JSON.stringify({ name, events: events.toSorted(), roomId, retries, schedule, httpTrigger });

/** The text of {@link writeFields}; an earlier version of the page may have written another one. */
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

const keyOf = (name: string): string => `atrium.draft.${name}`;

/** Private modes and full disks refuse: then the draft lives as long as its page. */
function tryStorage<Result>(use: (storage: Storage) => Result): Result | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** The name of the draft of a new workflow. */
export const newDraft = (organizationId: string): string => `new.${organizationId}`;

const forget = (name: string): void => {
  tryStorage((storage) => storage.removeItem(keyOf(name)));
};

/** The name of the draft of the fields beside the code. */
export const fieldsOf = (name: string): string => `${name}.fields`;

/** Forgets the code and the fields. */
export const forgetDraft = (name: string): void => {
  forget(name);
  forget(fieldsOf(name));
};

interface Draft {
  /** The editor's first content: the draft, if there is one, else the saved code. */
  readonly initial: string;
  /** True while the editor shows what an earlier visit left unsaved. */
  readonly isRestored: boolean;
  /** The text as it is now. */
  current(): string;
  change(text: string): void;
  /** Back to what is saved. */
  discard(): void;
}

/** The draft `name` of a text that is saved as `saved`. */
export function useDraft(name: string, saved: string): Draft {
  const [initial, setInitial] = useState(
    () => tryStorage((storage) => storage.getItem(keyOf(name))) ?? saved,
  );
  const [isRestored, setIsRestored] = useState(initial !== saved);
  const text = useRef(initial);
  useEffect(() => {
    if (text.current !== saved) return;
    forget(name);
    setIsRestored(false);
  }, [name, saved]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (text.current !== saved) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [saved]);
  return {
    initial,
    isRestored,
    current: () => text.current,
    change: (next) => {
      text.current = next;
      if (next === saved) forget(name);
      else tryStorage((storage) => storage.setItem(keyOf(name), next));
    },
    discard: () => {
      text.current = saved;
      forget(name);
      setInitial(saved);
      setIsRestored(false);
    },
  };
}
