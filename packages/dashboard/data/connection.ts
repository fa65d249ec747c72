/** The connection to the service: the results of requests tell its state, and polls tell when it is back. */
import { AtriumError } from "atrium/server";
import { useSyncExternalStore } from "react";

/** The pauses between attempts to reach the service again; the last one repeats. */
const PAUSES_MS = [2_000, 4_000, 8_000, 15_000];

/** Null while the service answers. */
export interface Outage {
  /** When the next attempt begins (epoch ms); null while one is under way. */
  readonly nextAt: number | null;
}

let outage: Outage | null = null;
let attempts = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Called once the service answers again. */
let recover: () => void = () => undefined;
const watchers = new Set<() => void>();

function show(next: Outage | null): void {
  outage = next;
  for (const notify of watchers) notify();
}

/** True for the error of a request that got no answer. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof AtriumError && error.code === "UNREACHABLE";

/** Notes how a request ended. */
export function noteResult(error: unknown): void {
  if (isUnreachable(error)) lose();
  else if (outage !== null) restore();
}

function lose(): void {
  if (outage === null) plan();
}

function plan(): void {
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)] ?? 0;
  attempts += 1;
  clearTimeout(timer);
  timer = setTimeout(() => void retryNow(), pause);
  show({ nextAt: Date.now() + pause });
}

function restore(): void {
  clearTimeout(timer);
  attempts = 0;
  show(null);
  recover();
}

/** Asks the service whether it is back. */
export async function retryNow(): Promise<void> {
  clearTimeout(timer);
  show({ nextAt: null });
  const answers = await fetch("/health").then(
    () => true,
    () => false,
  );
  if (answers) restore();
  else plan();
}

/** Asks the service whether it answers, and waits until it does. */
async function untilAnswered(): Promise<void> {
  await retryNow();
  if (outage === null) return;
  await new Promise<void>((resolve) => {
    const stop = subscribe(() => {
      if (outage !== null) return;
      stop();
      resolve();
    });
  });
}

/** Begins to watch; `onRecovery` refreshes the shown data. */
export function watchConnection(onRecovery: () => void): void {
  recover = onRecovery;
  addEventListener("offline", lose);
  addEventListener("online", () => {
    if (outage !== null) void retryNow();
  });
}

const subscribe = (notify: () => void): (() => void) => {
  watchers.add(notify);
  return () => watchers.delete(notify);
};

export const useOutage = (): Outage | null => useSyncExternalStore(subscribe, () => outage);

const RELOADED_AT = "atrium.reloaded-at";
/** A reload fetches the code of a new deployment. A second one this soon would only fail again. */
const RELOAD_AGAIN_MS = 30_000;

/**
 * The module that `load` imports. When its file does not arrive, this waits until the service answers and reloads the
 * page: the browser remembers a failed import, and a new deployment has files of other names. Rejects soon after a
 * reload.
 */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    await untilAnswered();
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < RELOAD_AGAIN_MS) throw error;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    location.reload();
    return new Promise(() => {});
  }
}
