/** The list of workflows, of which several can be enabled, disabled or deleted. */
import type { Workflow } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { Icon } from "../ui/button.tsx";
import { Empty } from "../ui/feedback.tsx";
import { ListFilters } from "../ui/list-filters.tsx";
import { Page } from "../ui/page.tsx";
import { NAMED, SelectablePage } from "../ui/selectable.tsx";
import { StateBadge, useSubscriberActions } from "../ui/subscribers.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

/** The starts of the workflow. */
const startsOf = ({ events, schedule, http_trigger }: Workflow): string[] => [
  ...events,
  ...(schedule === null ? [] : [`${schedule.cron} (${schedule.timezone})`]),
  ...(http_trigger ? ["requests"] : []),
];

const COLUMNS: readonly Column<Workflow>[] = [
  { label: "Name", sort: "name", cell: ({ id, name }) => <Link href={`/workflows/${id}`}>{name}</Link> },
  { label: "Runs on", cell: (workflow) => startsOf(workflow).join(", ") },
  { label: "Rooms", cell: ({ room_id }) => (room_id === null ? "all" : <code>{room_id.slice(0, 8)}</code>) },
  { label: "State", cell: ({ enabled }) => <StateBadge enabled={enabled} /> },
  { label: "Updated", sort: "updated_at", cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export default function WorkflowsPage() {
  const filters = useFilters();
  const query = { ...filters.page(["name", "updated_at"]), ...chosen({ search: filters.search }) };
  const workflows = useApiQuery(["workflows", query], (atrium) => atrium.workflows.list(query));
  const actions = useSubscriberActions<Workflow>("workflows", {
    enable: "They run again on what starts them.",
    disable: "Nothing starts them until they are enabled again. Runs in progress finish.",
    delete:
      "Their code, versions, secrets and runs are deleted with them. Runs in progress finish. This cannot be undone.",
  });
  const create = (
    <Link className="button primary" href="/workflows/new" data-shortcut="new">
      <Icon name="plus" />
      New workflow
    </Link>
  );
  const code = "export default (event) => event.user.name;";
  const first = { name: "Greet", events: ["participant.joined"], code };
  const empty = (
    <Empty
      filters={filters}
      title="No workflows yet"
      create="Create a workflow"
      command={["POST", "/workflows", first]}
    >
      A workflow is a function that runs when an event happens in a room, for example to greet a participant.
    </Empty>
  );
  return (
    <Page title="Workflows" actions={create}>
      {(filters.isNarrowed || workflows.data?.total !== 0) && (
        <ListFilters label="Search workflows by name" filters={filters} />
      )}
      <div className="plain-list">
        <SelectablePage
          label="Workflows"
          noun={{ one: "workflow", many: "workflows" }}
          query={workflows}
          itemsOf={(data) => data.workflows}
          {...NAMED}
          columns={COLUMNS}
          {...{ filters, empty, actions }}
          refreshes={[["workflows"], ["workflow"]]}
        />
      </div>
    </Page>
  );
}
