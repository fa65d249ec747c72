/** Feedback on a page: the states of queries, empty lists, badges, errors with their request, notices, the connection. */
import { AtriumError } from "atrium/server";
import { type ReactNode, useContext, useEffect, useState } from "react";
import { Link } from "wouter";
import { isUnreachable, type Outage, retryNow, useOutage } from "../data/connection.ts";
import { adviceOn } from "../data/errors.ts";
import type { Filters } from "../data/filters.ts";
import { dismiss, type Notice, useNotices } from "../data/notices.ts";
import { CurrentContext } from "../data/organization.tsx";
import { Button } from "./button.tsx";
import { Pager } from "./table.tsx";
import { useTick } from "./time.tsx";

const SKELETON_LINES = ["heading", "long", "short", "long", "long", "short"];

/** Grey lines in the place of content that loads. */
export const Loading = () => (
  <div className="skeleton" role="status" aria-label="Loading">
    {SKELETON_LINES.map((width, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change
      <span key={index} className={width} />
    ))}
  </div>
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

interface DetailsProps {
  readonly summary: ReactNode;
  /** Rendered while it is open. */
  readonly children: ReactNode;
}

/** A row that expands. */
export function Details({ summary, children }: DetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}

/** A request ID; within an organization, as a link to its log. */
function RequestLink({ id }: { readonly id: string }) {
  const isInOrganization = useContext(CurrentContext) !== null;
  return isInOrganization ? <Link href={`/logs?id=${id}`}>{id}</Link> : id;
}

/** The request that caused an event; nothing where that is not known. */
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

/** The request ID of an error whose cause only the service's log knows. */
const requestIdOf = (error: Error): string | undefined =>
  error instanceof AtriumError && error.code === "INTERNAL_ERROR" ? error.requestId : undefined;

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

/** Notices of results and errors, shown for a while. */
export const Notices = () => (
  <section className="notices" aria-label="Notices" aria-live="polite">
    {useNotices().map((notice) => (
      <OneNotice key={notice.id} {...notice} />
    ))}
  </section>
);

const NOTICE_MS = 6_000;

/** It stays while a pointer or the focus is on it. */
function OneNotice({ id, title, description, isError = false }: Notice) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its button is the control
    <div
      className={isError ? "notice error" : "notice"}
      role={isError ? "alert" : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div>
        <p className="notice-title">{title}</p>
        {description && <p className="soft">{description}</p>}
      </div>
      <Button variant="quiet" icon="close" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}

/** The pages, with a banner above them while the service does not answer; their content is grey then. */
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
  useTick(1_000);
  const seconds = Math.max(0, Math.ceil(((nextAt ?? 0) - Date.now()) / 1_000));
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

interface LoadedProps<Data> {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly children: (data: Data) => ReactNode;
}

export const Loaded = <Data,>({ query: { data, error, refetch }, children }: LoadedProps<Data>) => (
  <>
    <ErrorMessage error={error} onRetry={refetch} />
    {data === undefined ? !error && <Loading /> : children(data)}
  </>
);

interface PagedProps<Data> extends LoadedProps<Data> {
  readonly filters: Filters;
  /** In place of a list without items. */
  readonly empty: ReactNode;
}

/** A page of a list. */
export const Paged = <Data extends { readonly total: number }>(props: PagedProps<Data>) => (
  <Loaded query={props.query}>
    {(data) => (
      <>
        {props.children(data)}
        {data.total === 0 && props.empty}
        <Pager filters={props.filters} total={data.total} />
      </>
    )}
  </Loaded>
);
