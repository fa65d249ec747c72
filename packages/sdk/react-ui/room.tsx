/** The room as components read it, their attempts to change it, and failures. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { User } from "../client/index.ts";
import { useUsers } from "../react/index.ts";
import { type Texts, useTexts } from "./texts.ts";

/** One of {@link useUsers}. */
export const useUser = (userId: string): User | null | undefined => useUsers([userId])[0];

export const nameOf = (user: User | null | undefined, texts: Texts): string =>
  user === undefined ? texts.loading : (user?.name ?? texts.deletedUser);

export interface Attempts {
  readonly isBusy: boolean;
  /** The error of the latest attempt, until it is forgotten. */
  readonly error: string | null;
  forget(): void;
  /** Resolves to the result of the action; to undefined if it failed. */
  attempt<Result>(action: () => Promise<Result>): Promise<Result | undefined>;
}

/** Changes whose failure is shown beside the control that started them. */
export function useAttempts(): Attempts {
  const texts = useTexts();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const attempt = async <Result,>(action: () => Promise<Result>): Promise<Result | undefined> => {
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

/** Focuses the control that has opened something, once that is closed again. */
export function useReturnedFocus(control: RefObject<HTMLElement | null>, isOpen: boolean): void {
  const before = useRef(isOpen);
  useEffect(() => {
    if (before.current && !isOpen) control.current?.focus();
    before.current = isOpen;
  }, [control, isOpen]);
}

/** An error in words; nothing without one. */
export const Failure = ({ error }: { readonly error: string | null }): ReactNode =>
  error !== null && (
    <p role="alert" className="atrium-error">
      {error}
    </p>
  );

interface LoadFailureProps {
  readonly error: Error | null;
  reload(): void;
}

/** Something could not be loaded, with a button to try again. */
export function LoadFailure({ error, reload }: LoadFailureProps): ReactNode {
  const texts = useTexts();
  return (
    error !== null && (
      <div className="atrium-bar">
        <Failure error={texts.failed(error)} />
        <button type="button" onClick={() => reload()}>
          {texts.tryAgain}
        </button>
      </div>
    )
  );
}
