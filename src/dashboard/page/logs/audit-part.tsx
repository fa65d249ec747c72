/** The audit log: who changed what, filtered by resource, actor and time. */
import type { AuditEntry } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { operationName } from "../data/messages.ts";
import { useApiQuery, useIsOwner } from "../data/organization.tsx";
import { Button, Identifier } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { DateFilter, FilterSelect } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

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
  file: "Deleted files",
};

const isResource = (value: string): value is Resource => value in RESOURCES;

const KINDS = { person: "", key: "API key ", operator: "The operator" } as const;

/** The maker of a change, as a link to all changes by them. */
function Actor({ actor: { type, id, name } }: Pick<AuditEntry, "actor">) {
  const shown = `${KINDS[type]}${name ?? ""}`;
  return id === null ? shown : <Link href={`/logs/audit?actor=${id}`}>{shown}</Link>;
}

/** For example, `role: owner, url`. */
const describeChanges = (changes: AuditEntry["changes"]): string =>
  Object.entries(changes)
    .map(([field, value]) => (value === null ? field : `${field}: ${value}`))
    .join(", ");

const COLUMNS: readonly Column<AuditEntry>[] = [
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

const PAGE_SIZE = 25;

export const AuditPart = () =>
  useIsOwner() ? (
    <AuditLog />
  ) : (
    <Empty title="Only owners can read the audit log">
      <p>It says who changed what in the organization. Ask an owner, or ask one to make you an owner.</p>
    </Empty>
  );

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
      <div className="filters">
        <FilterSelect
          label="Changes to show"
          filters={filters}
          name="resource"
          all="All changes"
          options={RESOURCES}
        />
        <DateFilter label="From" value={get("from")} onChange={(value) => set("from", value)} />
        <DateFilter label="to" value={get("to")} onChange={(value) => set("to", value)} />
        {filter.actorId && (
          <Button icon="close" onClick={() => set("actor", "")}>
            Changes by everyone
          </Button>
        )}
      </div>
      <Loaded query={log}>
        {({ entries, cursor }) => (
          <>
            <Table label="List of changes" items={entries} idOf={({ id }) => id} columns={COLUMNS} />
            {entries.length === 0 && (
              <Empty title="No changes">
                <p>No one has changed anything like this in this time.</p>
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
