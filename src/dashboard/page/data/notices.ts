/** Notices of results and errors. Every page shows them until they are dismissed. */
import { useSyncExternalStore } from "react";

export interface Notice {
  readonly id: number;
  readonly title: string;
  /** Such as what to do about an error. */
  readonly description?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Takes back what the notice confirms. */
  readonly undo?: (() => void) | undefined;
}

let notices: readonly Notice[] = [];
let count = 0;
const watchers = new Set<() => void>();

function show(next: readonly Notice[]): void {
  notices = next;
  for (const watch of watchers) watch();
}

/** More than these would cover the page: the oldest ones leave. */
const MAX_NOTICES = 3;

export function notify(notice: Omit<Notice, "id">): void {
  count += 1;
  show([...notices, { ...notice, id: count }].slice(-MAX_NOTICES));
}

export const dismiss = (id: number): void => show(notices.filter((notice) => notice.id !== id));

const subscribe = (watch: () => void): (() => void) => {
  watchers.add(watch);
  return () => watchers.delete(watch);
};

export const useNotices = (): readonly Notice[] => useSyncExternalStore(subscribe, () => notices);
