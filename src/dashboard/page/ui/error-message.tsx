/** An error's message and advice, and where the service itself failed, the request ID. */
import { Link } from "wouter";
import { adviceOn, requestIdOf } from "../data/advice.ts";
import { isUnreachable, useOutage } from "../data/connection.ts";
import { useOrganizationAddress } from "../data/organization.tsx";
import { Button } from "./button.tsx";

export interface ErrorMessageProps {
  readonly error: Error | null;
  readonly onRetry?: () => void;
}

export function ErrorMessage({ error, onRetry }: ErrorMessageProps) {
  const outage = useOutage();
  // The banner says it already.
  if (error === null || (outage !== null && isUnreachable(error))) return null;
  const requestId = requestIdOf(error);
  return (
    <div className="error-message" role="alert">
      <p>
        <strong>{error.message}</strong> {adviceOn(error)}
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

/** A request ID; within an organization, as a link to its log. */
function RequestLink({ id }: { readonly id: string }) {
  const address = useOrganizationAddress();
  return address === null ? id : <Link href={address(`/logs?id=${id}`)}>{id}</Link>;
}
