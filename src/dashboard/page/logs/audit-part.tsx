/** The audit log: who changed what, filtered by resource, actor and time. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AuditEntry, AuditFilter } from "atrium/server";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";
import { chosen, useFilters } from "../data/use-filters.ts";
import { DateFilter } from "../rooms/date-filter.tsx";
import { Button } from "../ui/button.tsx";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect } from "../ui/fields.tsx";
import { CursorPager } from "../ui/table.tsx";
import { AuditTable } from "./audit-table.tsx";

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

const PAGE_SIZE = 25;

export function AuditPart() {
  const isOwner = useIsOwner();
  const filters = useFilters();
  const { get, set, after, goAfter } = filters;
  const resource = get("resource");
  const filter = chosen({ after, from: get("from"), to: get("to"), actorId: get("actor") });
  const { data, error, refetch } = useAudit({
    ...{ ...filter, limit: PAGE_SIZE },
    ...(isResource(resource) && { resource }),
  });
  if (!isOwner)
    return (
      <Empty title="Only owners can read the audit log">
        <p>It says who changed what in the organization. Ask an owner, or ask one to make you an owner.</p>
      </Empty>
    );
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
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
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <AuditTable entries={data.entries} />}
      {data && <CursorPager after={after} cursor={data.cursor} goAfter={goAfter} />}
      <p className="soft">
        Changes by members, API keys and the operator, as long as{" "}
        <a href="/docs/guides/operating#audit-log">the service keeps them</a>.
      </p>
    </section>
  );
}

/** A page of the log; nothing for members who are not owners. */
function useAudit(filter: AuditFilter) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("audit", filter),
    queryFn: () => atrium.organization.listAuditEntries(filter),
    enabled: useIsOwner(),
    placeholderData: keepPreviousData,
  });
}
