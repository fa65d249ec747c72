/** An error's message, advice, and request ID. */
import { adviceOn, requestIdOf } from "../data/advice.ts";
import { Button } from "./button.tsx";

export interface ErrorMessageProps {
  readonly error: Error | null;
  readonly onRetry?: () => void;
}

export function ErrorMessage({ error, onRetry }: ErrorMessageProps) {
  if (error === null) return null;
  const requestId = requestIdOf(error);
  return (
    <div className="error-message" role="alert">
      <p>
        <strong>{error.message}</strong> {adviceOn(error)}
      </p>
      {requestId && <p className="soft small">Request ID: {requestId}</p>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
