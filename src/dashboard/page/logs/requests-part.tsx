/** The log of API requests: the latest of them, or the one with a request ID. */
import type { ApiRequest } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { Identifier } from "../ui/button.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { FilterSelect, SearchBox } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const PAGE_SIZE = 25;
const REFRESH_MS = 5_000;

/** The log is about a second late: a request that it does not have yet is asked for again a few times. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;

export function RequestsPart() {
  const filters = useFilters();
  const { get, set } = filters;
  const id = get("id");
  return (
    <Section id="requests" title="API requests">
      <div className="filters">
        <SearchBox label="Find a request ID" initial={id} onSearch={(text) => set("id", text.trim())} />
        <FilterSelect
          label="Requests to show"
          filters={filters}
          name="show"
          all="All requests"
          options={{ failed: "Refused and failed" }}
        />
      </div>
      {id === "" ? <Latest /> : <One key={id} id={id} />}
      <p className="soft">
        About a second late; where there are many, successes are sampled. Read more about{" "}
        <a href="/docs/guides/operating#request-log">the request log</a>.
      </p>
    </Section>
  );
}

function Latest() {
  const filters = useFilters();
  const { get, after } = filters;
  const query = {
    ...chosen({ after, credentialId: get("credential"), operation: get("operation") }),
    ...{ limit: PAGE_SIZE, ...(get("show") === "failed" && { failed: true }) },
  };
  const log = useApiQuery(["requests", query], (atrium) => atrium.requests.list(query), {
    refetchInterval: after === "" && REFRESH_MS,
  });
  return (
    <Loaded query={log}>
      {({ requests, cursor }) => (
        <>
          <RequestTable requests={requests} />
          <CursorPager {...{ filters, cursor }} />
        </>
      )}
    </Loaded>
  );
}

function One({ id }: { readonly id: string }) {
  const request = useApiQuery(["request", id], ({ requests }) => requests.get(id), {
    refetchInterval: ({ state }) =>
      state.status === "error" && state.errorUpdateCount < MAX_ATTEMPTS ? RETRY_MS : false,
  });
  return <Loaded query={request}>{(data) => <RequestTable requests={[data]} />}</Loaded>;
}

const CREDENTIALS: Readonly<Record<ApiRequest["credential"]["type"], string>> = {
  key: "API key",
  member: "Member",
  user: "User",
  none: "None",
};

/** The kind of a credential, as a link to all requests with it. */
function Credential({ credential: { type, id } }: Pick<ApiRequest, "credential">) {
  if (id === null) return CREDENTIALS[type];
  return (
    <Link href={`/logs?credential=${encodeURIComponent(id)}`}>
      {CREDENTIALS[type]} {id.slice(0, 8)}
    </Link>
  );
}

const toneOf = (status: number) => (status >= 500 ? "bad" : status >= 400 ? "waiting" : "good");

const COLUMNS: readonly Column<ApiRequest>[] = [
  {
    label: "Request",
    cell: ({ method, route, error }) => (
      <>
        <code>
          {method} {route}
        </code>
        {error && <p className="soft small">{error.message}</p>}
      </>
    ),
  },
  {
    label: "Status",
    cell: ({ status, weight }) => (
      <>
        <Badge tone={toneOf(status)}>{String(status)}</Badge>
        {weight > 1 && <span className="soft"> one of about {Math.round(weight)}</span>}
      </>
    ),
  },
  { label: "Duration", className: "number", cell: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
  { label: "Credential", cell: ({ credential }) => <Credential credential={credential} /> },
  { label: "When", cell: ({ at }) => <Time at={at} /> },
  { label: "From", cell: ({ address }) => address && <code>{address}</code> },
  { label: "Request ID", cell: ({ id }) => <Identifier value={id} what="request ID" /> },
];

const RequestTable = ({ requests }: { readonly requests: readonly ApiRequest[] }) =>
  requests.length === 0 ? (
    <Empty title="No requests">
      <p>No request like this is in the log.</p>
    </Empty>
  ) : (
    <Table label="List of API requests" items={requests} idOf={({ id }) => id} columns={COLUMNS} />
  );
