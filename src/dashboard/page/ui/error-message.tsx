/** An error's message and advice, and where the service itself failed, the request ID. */
import { adviceOn, requestIdOf } from "../data/advice.ts";
import { isUnreachable, useOutage } from "../data/connection.ts";
import { Button } from "./button.tsx";
import { RequestLink } from "./request-link.tsx";

export interface ErrorMessageProps {
  readonly error: Error | null;
  readonly onRetry?: () => void;
}

export function ErrorMessage({ error, onRetry }: ErrorMessageProps) {
  const outage = useOutage();
  // The banner says it already.
  if (error === null || (outage !== null && isUnreachable(error))) return null;
  const requestId = requestIdOf(error);
  const message = /[.!?…]$/.test(error.message) ? error.message : `${error.message}.`;
  return (
    <div className="error-message" role="alert">
      <p>
        <strong>{message}</strong> {adviceOn(error)}
      </p>
      {requestId && (
        <p className="soft small">
          Request ID: <RequestLink id={requestId} />
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
