/** What is not saved yet of a workflow: its code and its fields, kept in this tab when one leaves the page or reloads it, until it is saved or discarded. */
import { useEffect, useRef, useState } from "react";

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

export interface Draft {
  /** What the editor begins with: the draft, if there is one, else what is saved. */
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
