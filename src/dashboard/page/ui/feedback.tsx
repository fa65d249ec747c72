/** Messages on a page: loading, empty lists, badges, errors with a link to their request, notices, the connection. */

import { Toast } from "@base-ui/react/toast";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { adviceOn, requestIdOf } from "../data/advice.ts";
import { isUnreachable, type Outage, retryNow, useOutage } from "../data/connection.ts";
import { useOrganizationAddress } from "../data/use-address.ts";
import { Button, Icon } from "./button.tsx";

/** The placeholder while data loads. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);

/** The empty state of a list, with the next step. */
interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** A status in one word; the color only repeats it. */
export interface BadgeProps {
  readonly tone: "good" | "bad" | "waiting" | "plain";
  readonly children: string;
}

export const Badge = ({ tone, children }: BadgeProps) => <span className={`badge ${tone}`}>{children}</span>;

/** A request ID; within an organization, as a link to its log. */
function RequestLink({ id }: { readonly id: string }) {
  const address = useOrganizationAddress();
  return address === null ? id : <Link href={address(`/logs?id=${id}`)}>{id}</Link>;
}

/** Which request an event follows from; nothing where that is not known. */
export const CausedBy = ({ requestId }: { readonly requestId: string | undefined }) =>
  requestId === undefined ? null : (
    <p className="soft small">
      Caused by the request <RequestLink id={requestId} />
    </p>
  );

/** An error's message and advice, and where the service itself failed, the request ID. */
interface ErrorMessageProps {
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

/** Notifications of results and errors, shown for a while. */
export function Notices() {
  const { toasts } = Toast.useToastManager();
  return (
    <Toast.Portal>
      <Toast.Viewport className="notices">
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className={`notice ${toast.type ?? ""}`}>
            <div>
              <Toast.Title className="notice-title" render={<p />} />
              <Toast.Description className="soft" />
            </div>
            <Toast.Close className="button quiet" aria-label="Dismiss">
              <Icon name="close" />
            </Toast.Close>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  );
}

/** The pages, with the banner above them while the service does not answer: what they show then is greyed. */
export function WithConnection({ children }: { readonly children: ReactNode }) {
  const outage = useOutage();
  return (
    <>
      {outage !== null && <Banner outage={outage} />}
      <div className={outage === null ? "connected" : "connected stale"}>{children}</div>
    </>
  );
}

function Banner({ outage: { nextAt } }: { readonly outage: Outage }) {
  const seconds = useSecondsUntil(nextAt);
  return (
    <section className="connection" aria-label="Connection">
      <p role="alert">
        <strong>The service does not answer.</strong> What you see may be out of date.
      </p>
      <span className="soft">{nextAt === null ? "Trying now …" : `Next attempt in ${seconds} s`}</span>
      <Button isBusy={nextAt === null} onClick={() => void retryNow()}>
        Try now
      </Button>
    </section>
  );
}

function useSecondsUntil(at: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (at === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return at === null ? 0 : Math.max(0, Math.ceil((at - now) / 1000));
}
