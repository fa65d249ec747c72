/**
 * Unsaved code and fields of a workflow. This tab keeps them over reloads and navigation, until they are saved
 * or discarded.
 */
import type { EventName } from "atrium/server";
import { useEffect, useRef, useState } from "react";

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

/** The same text for the same input, in whatever order the events were chosen. */
const write = ({ events, ...rest }: WorkflowInput): string =>
  JSON.stringify({ ...rest, events: events.toSorted() });

/** Count the number up when the fields change: a tab may outlive the page of an earlier version. */
const keyOf = (name: string): string => `atrium.draft.1.${name}`;

const readDraft = (name: string): WorkflowInput | null =>
  JSON.parse(sessionStorage.getItem(keyOf(name)) ?? "null") as WorkflowInput | null;

/** A full or forbidden storage refuses: the draft then lives as long as its page. */
function keepDraft(name: string, text: string): void {
  try {
    sessionStorage.setItem(keyOf(name), text);
  } catch {}
}

export const forgetDraft = (name: string): void => sessionStorage.removeItem(keyOf(name));

/** The name of the draft of a new workflow. */
export const newDraft = (organizationId: string): string => `new.${organizationId}`;

/** The draft `name` of a workflow that is saved as `saved`. */
export function useDraft(name: string, saved: WorkflowInput) {
  const [start, setStart] = useState(() => ({ input: readDraft(name) ?? saved, discards: 0 }));
  const [fields, setFields] = useState(start.input);
  const savedText = write(saved);
  const [isRestored, setRestored] = useState(() => write(start.input) !== savedText);
  const current = useRef(start.input);
  useEffect(() => {
    if (write(current.current) !== savedText) return;
    forgetDraft(name);
    setRestored(false);
  }, [name, savedText]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (write(current.current) !== savedText) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [savedText]);
  const set = (input: WorkflowInput) => {
    current.current = input;
    const text = write(input);
    if (text === savedText) forgetDraft(name);
    else keepDraft(name, text);
  };
  return {
    /** The fields as they are now; the editor has the code. */
    fields,
    /** The editor's first content, which another number begins anew. */
    start: { code: start.input.code, discards: start.discards },
    /** True while the form shows unsaved input of an earlier visit. */
    isRestored,
    current: () => current.current,
    changeCode: (code: string) => set({ ...current.current, code }),
    change: (part: Partial<Omit<WorkflowInput, "code">>) => {
      const changed = { ...current.current, ...part };
      setFields(changed);
      set(changed);
    },
    /** Returns to the saved code. */
    discard: () => {
      set(saved);
      setFields(saved);
      setStart({ input: saved, discards: start.discards + 1 });
      setRestored(false);
    },
  };
}
