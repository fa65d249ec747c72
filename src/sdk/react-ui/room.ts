/** The room as components read it, and their attempts to change it. */
import { useCallback, useState, useSyncExternalStore } from "react";
import type { User } from "../client/index.ts";
import { useRoom } from "../react/index.ts";
import { useTexts } from "./texts.ts";

/** A user of the room, online or not; null if there is none. Renders when the user changes. */
export function useUser(userId: string): User | null {
  const { users } = useRoom().client;
  const subscribe = useCallback((changed: () => void) => users.on("updated", changed), [users]);
  return useSyncExternalStore(
    subscribe,
    () => users.get({ userId }),
    () => null,
  );
}

export interface Attempts {
  readonly isBusy: boolean;
  /** The error of the latest attempt, until it is forgotten. */
  readonly error: string | null;
  forget(): void;
  /** Resolves to the result of the action; to undefined if it has failed. */
  attempt<Result>(action: () => Promise<Result>): Promise<Result | undefined>;
}

/** Changes whose failure is shown beside what has started them. */
export function useAttempts(): Attempts {
  const texts = useTexts();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const attempt = async <Result>(action: () => Promise<Result>): Promise<Result | undefined> => {
    setBusy(true);
    setError(null);
    try {
      return await action();
    } catch (failure) {
      setError(texts.failed(failure as Error));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, forget: () => setError(null), attempt };
}
