/** The logs: requests to the API, and changes in the organization. */

import type { ApiRequest, AuditEntry } from "atrium/server";
import { Link, useParams } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useApiQuery, useIsOwner } from "../data/organization.tsx";
import { Button, Identifier } from "../ui/button.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { DateFilter, FilterSelect, FoldedFilters, SearchBox } from "../ui/list-filters.tsx";
import { Page, Section, Tabs } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const PARTS = [
  { name: "Requests", path: "", Content: RequestsPart },
  { name: "Audit log", path: "/audit", Content: AuditPart },
];

export default function LogsPage() {
  const { part = "" } = useParams();
  const { Content = RequestsPart } = PARTS.find(({ path }) => path === `/${part}`) ?? {};
  return (
    <Page title="Logs">
      <Tabs label="Logs" base="/logs" tabs={PARTS} />
      <div className="plain-list">
        <Content />
      </div>
    </Page>
  );
}

const PAGE_SIZE = 25;
const REFRESH_MS = 5_000;

/** The log is about a second late: a request that it does not have yet is asked for again a few times. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;

function RequestsPart() {
  const filters = useFilters();
  const { get, set } = filters;
  const id = get("id");
  return (
    <Section id="requests" title="API requests">
      <FoldedFilters
        isOpenAtFirst={get("show") !== ""}
        search={
          <SearchBox label="Find a request ID" initial={id} onSearch={(text) => set("id", text.trim())} />
        }
      >
        <FilterSelect
          label="Requests to show"
          filters={filters}
          name="show"
          all="Without this dashboard's"
          options={{ all: "All requests", failed: "Refused and failed" }}
        />
      </FoldedFilters>
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
  const credentialId = get("credential");
  const query = {
    ...chosen({ after, credentialId, operation: get("operation") }),
    ...(get("show") === "failed" && { failed: true }),
    ...(get("show") === "" && credentialId === "" && { byMember: false }),
    limit: PAGE_SIZE,
  };
  const log = useApiQuery(["requests", query], (atrium) => atrium.requests.list(query), {
    refetchInterval: after === "" && REFRESH_MS,
  });
  return (
    <Loaded query={log} shape="list">
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
  return (
    <Loaded query={request} shape="list">
      {(data) => <RequestTable requests={[data]} />}
    </Loaded>
  );
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

const REQUEST_COLUMNS: readonly Column<ApiRequest>[] = [
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
        {Math.round(weight) > 1 && <span className="soft"> one of about {Math.round(weight)}</span>}
      </>
    ),
  },
  { label: "Duration", className: "number", cell: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
  { label: "Credential", cell: ({ credential }) => <Credential credential={credential} /> },
  { label: "When", cell: ({ at }) => <Time at={at} /> },
  { label: "From", cell: ({ address }) => address && <code>{address}</code> },
  { label: "Request ID", cell: ({ id }) => <Identifier value={id} what="request ID" /> },
];

function RequestTable({ requests }: { readonly requests: readonly ApiRequest[] }) {
  const filters = useFilters();
  if (requests.length > 0)
    return (
      <Table label="List of API requests" items={requests} idOf={({ id }) => id} columns={REQUEST_COLUMNS} />
    );
  return (
    <Empty title="No requests yet" filters={filters} command={["GET", "/rooms"]}>
      Requests by API keys and users are listed here, and those of this dashboard once they are chosen.
    </Empty>
  );
}

type Resource = AuditEntry["resource"]["type"];

const RESOURCES: Readonly<Record<Resource, string>> = {
  organization: "Organization",
  member: "Members",
  invitation: "Invitations",
  api_key: "API keys",
  tokens: "Tokens of all users",
  quotas: "Quotas",
  webhook: "Webhooks",
  workflow: "Workflows",
  room: "Deleted rooms",
  user: "Users",
  identity: "Identities",
  group: "Groups",
  access: "Access to rooms",
  link: "Links of rooms",
  file: "Deleted files",
};

const isResource = (value: string): value is Resource => value in RESOURCES;

const KINDS = { person: "", key: "API key ", operator: "The operator", service: "The service" } as const;

const ACRONYMS: Readonly<Record<string, string>> = { api: "API" };

/** An operation of the API in words: `rotateWebhookSecret` is "Rotate webhook secret". */
function operationName(operation: string): string {
  const words = operation
    .replaceAll(/([A-Z])/g, " $1")
    .split(" ")
    .map((word) => ACRONYMS[word.toLowerCase()] ?? word.toLowerCase());
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** The maker of a change, as a link to all changes by them. */
function Actor({ actor: { type, id, name } }: Pick<AuditEntry, "actor">) {
  const shown = `${KINDS[type]}${name ?? ""}`;
  return id === null ? shown : <Link href={`/logs/audit?actor=${id}`}>{shown}</Link>;
}

/** Lists changed fields, such as `role: owner, url`. */
const describeChanges = (changes: AuditEntry["changes"]): string =>
  Object.entries(changes)
    .map(([field, value]) => (value === null ? field : `${field}: ${value}`))
    .join(", ");

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  { label: "What", cell: ({ operation }) => operationName(operation) },
  { label: "Who", cell: ({ actor }) => <Actor actor={actor} /> },
  { label: "When", cell: ({ at }) => <Time at={at} /> },
  { label: "Resource", cell: ({ resource: { id } }) => id && <Identifier value={id} what="ID" /> },
  { label: "Changes", cell: ({ changes }) => describeChanges(changes) },
  { label: "From", cell: ({ address }) => address && <code>{address}</code> },
  {
    label: "Request",
    cell: ({ request_id }) => request_id && <Identifier value={request_id} what="request ID" />,
  },
];

function AuditPart() {
  if (useIsOwner()) return <AuditLog />;
  return (
    <Empty title="Only owners can read the audit log">
      It says who changed what in the organization. Ask an owner, or ask one to make you an owner.
    </Empty>
  );
}

function AuditLog() {
  const filters = useFilters();
  const { get, set, after } = filters;
  const resource = get("resource");
  const filter = {
    ...chosen({ after, from: get("from"), to: get("to"), actorId: get("actor") }),
    ...{ limit: PAGE_SIZE, ...(isResource(resource) && { resource }) },
  };
  const log = useApiQuery(["audit", filter], ({ organization }) => organization.listAuditEntries(filter));
  return (
    <Section id="audit" title="Audit log">
      <FoldedFilters isOpenAtFirst={filters.isNarrowed}>
        <FilterSelect
          label="Changes to show"
          filters={filters}
          name="resource"
          all="All changes"
          options={RESOURCES}
        />
        <DateFilter label="From" filters={filters} name="from" />
        <DateFilter label="to" filters={filters} name="to" />
        {filter.actorId && (
          <Button icon="close" onClick={() => set("actor", "")}>
            Changes by everyone
          </Button>
        )}
      </FoldedFilters>
      <Loaded query={log} shape="list">
        {({ entries, cursor }) => (
          <>
            <Table label="List of changes" items={entries} idOf={({ id }) => id} columns={AUDIT_COLUMNS} />
            {entries.length === 0 && (
              <Empty title="No changes yet" filters={filters} command={["GET", "/audit"]}>
                Every change of the organization is listed here with the person or key that made it.
              </Empty>
            )}
            <CursorPager {...{ filters, cursor }} />
          </>
        )}
      </Loaded>
      <p className="soft">
        Changes by members, API keys and the operator, as long as{" "}
        <a href="/docs/guides/operating#audit-log">the service keeps them</a>.
      </p>
    </Section>
  );
}
