/** Toasts of results and errors. Every page shows them until they are dismissed. */
import { useSyncExternalStore } from "react";

export interface Toast {
  readonly id: number;
  readonly title: string;
  /** Details, such as the remedy for an error. */
  readonly description?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Reverts the action that the toast confirms. */
  readonly undo?: (() => void) | undefined;
}

let toasts: readonly Toast[] = [];
let count = 0;
const watchers = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const watch of watchers) watch();
}

/** More than these would cover the page: the oldest ones leave. */
const MAX_TOASTS = 3;

export function notify(toast: Omit<Toast, "id">): void {
  count += 1;
  show([...toasts, { ...toast, id: count }].slice(-MAX_TOASTS));
}

export const dismiss = (id: number): void => show(toasts.filter((toast) => toast.id !== id));

const subscribe = (watch: () => void): (() => void) => {
  watchers.add(watch);
  return () => watchers.delete(watch);
};

export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => toasts);
