/** What the service has said no to, in its own words, and what to do about it. */
import { adviceOn, requestIdOf } from "../data/advice.ts";
import { Button } from "./button.tsx";

export interface RefusalProps {
  readonly error: Error | null;
  readonly onRetry?: () => void;
}

export function Refusal({ error, onRetry }: RefusalProps) {
  if (error === null) return null;
  const requestId = requestIdOf(error);
  return (
    <div className="refusal" role="alert">
      <p>
        <strong>{error.message}</strong> {adviceOn(error)}
      </p>
      {requestId && <p className="soft small">Request {requestId}</p>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
