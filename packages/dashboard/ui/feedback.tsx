/** Feedback on a page: the states of queries, empty lists, badges, errors with their request, toasts, the connection. */
import { AtriumError } from "atrium/server";
import { type ReactNode, useContext, useEffect, useState } from "react";
import { Link } from "wouter";
import { isUnreachable, type Outage, retryNow, useOutage } from "../data/connection.ts";
import { curlOf } from "../data/curl.ts";
import { adviceOn } from "../data/errors.ts";
import type { Filters } from "../data/filters.ts";
import { CurrentContext } from "../data/organization.tsx";
import { dismiss, type Toast, useToasts } from "../data/toasts.ts";
import { Button, CodeBlock } from "./button.tsx";
import { pressOnPage } from "./keys.ts";
import { Page } from "./page.tsx";
import { Pager } from "./table.tsx";
import { useTick } from "./time.tsx";

/** The blocks of a page and the rows of a list, as style classes. */
const SHAPES = {
  page: ["heading", "block", "short", "row", "row", "row", "row"],
  list: ["row", "row", "row", "row", "row", "row"],
  text: ["long", "short", "long", "short"],
};

/** Grey shapes in the place of content that arrives. */
export const Loading = ({ shape = "text" }: { readonly shape?: keyof typeof SHAPES }) => (
  <div className="skeleton" role="status" aria-label="Please wait">
    {SHAPES[shape].map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the shapes never change
      <span key={index} className={part} />
    ))}
  </div>
);

/** The empty state of a list: its purpose, and the next step, here and from a back end. */
interface EmptyProps {
  readonly title: string;
  /** The filters of the list, which may leave nothing of it. */
  readonly filters?: Filters;
  /** One sentence. */
  readonly children: ReactNode;
  /** The label of a button that does the same as the page's own button for a new item. */
  readonly create?: string | undefined;
  /** Another button. */
  readonly action?: ReactNode;
  /** The request that does the same. */
  readonly command?: Parameters<typeof curlOf>[1];
}

const ANYONE = { serverUrl: location.origin, apiKey: "YOUR_API_KEY" };

export function Empty({ title, filters, children, create, action, command }: EmptyProps) {
  const accountId = useContext(CurrentContext)?.organization.id ?? "ACCOUNT_ID";
  if (filters?.isNarrowed)
    return (
      <Empty
        title={title.replace(/^No (.*) yet$/, "No matching $1")}
        action={<Button onClick={filters.clear}>Show all</Button>}
      >
        Nothing here matches the search and the filters.
      </Empty>
    );
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {create && <Button onClick={() => pressOnPage("n")}>{create}</Button>}
      {action}
      {command && <CodeBlock what="The command" text={curlOf({ ...ANYONE, accountId }, command)} />}
    </div>
  );
}

/** A status in one word; the color only repeats it. */
export interface BadgeProps {
  readonly tone: "good" | "bad" | "waiting" | "plain";
  readonly children: string;
}

export const Badge = ({ tone, children }: BadgeProps) => <span className={`badge ${tone}`}>{children}</span>;

interface DetailsProps {
  readonly summary: ReactNode;
  readonly isOpenAtFirst?: boolean;
  /** Rendered while it is open. */
  readonly children: ReactNode;
}

/** A row that expands. */
export function Details({ summary, isOpenAtFirst = false, children }: DetailsProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
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

/** Toasts of results and errors, shown for a while. */
export const Toasts = () => (
  <section className="toasts" aria-label="Notices" aria-live="polite">
    {useToasts().map((toast) => (
      <OneToast key={toast.id} {...toast} />
    ))}
  </section>
);

const TOAST_MS = 6_000;
/** The time in which an action can be taken back. */
const UNDO_MS = 10_000;

/** A toast. Stays while a pointer or the focus is on it. */
function OneToast({ id, title, description, isError = false, undo }: Toast) {
  const [isHeld, setHeld] = useState(false);
  const canUndo = undo !== undefined;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), canUndo ? UNDO_MS : TOAST_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld, canUndo]);
  const takeBack = () => {
    dismiss(id);
    undo?.();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its button is the control
    <div
      className={isError ? "toast error" : "toast"}
      role={isError ? "alert" : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div>
        <p className="toast-title">{title}</p>
        {description && <p className="soft">{description}</p>}
      </div>
      {canUndo && <Button onClick={takeBack}>Undo</Button>}
      <Button variant="quiet" icon="close" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}

/** The pages. While the service does not answer, they are grey, with a banner above. */
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
  /** The outline of the content, shown while it loads. */
  readonly shape?: Parameters<typeof Loading>[0]["shape"];
  /** Links to the parents of a page, for one that is not there. */
  readonly above?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ query, shape = "text", above, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  const message = <ErrorMessage error={error} onRetry={refetch} />;
  if (data !== undefined)
    return (
      <>
        {message}
        {children(data)}
      </>
    );
  if (error === null) return <Loading shape={shape} />;
  if (shape !== "page") return message;
  return (
    <Page title="Not available" above={above}>
      {message}
    </Page>
  );
}

export interface Counted {
  readonly total: number;
}

export interface PagedProps<Data> extends Omit<LoadedProps<Data>, "shape" | "above"> {
  readonly filters: Filters;
  /** Replaces a list without items. */
  readonly empty: ReactNode;
}

/** A page of a list. */
export const Paged = <Data extends Counted>({ query, filters, empty, children }: PagedProps<Data>) => (
  <Loaded query={query} shape="list">
    {(data) => (
      <>
        {children(data)}
        {data.total === 0 && empty}
        <Pager filters={filters} total={data.total} />
      </>
    )}
  </Loaded>
);
