/** The list of workflows, of which several can be enabled, disabled or deleted. */
import type { Workflow } from "atrium/server";
import { Link } from "wouter";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAddress } from "../data/use-address.ts";
import { chosen, type Filters, sortedBy, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { Icon } from "../ui/button.tsx";
import { Badge, Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { type BulkAction, SelectionBar } from "../ui/several.tsx";
import { Pager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useWorkflows } from "./use-workflows.ts";

export default function WorkflowsPage() {
  const address = useAddress();
  const filters = useFilters();
  const { limit, offset, search, searchFor, sort, isNarrowed } = filters;
  const { data, error, refetch } = useWorkflows({
    ...{ limit, offset, ...chosen({ search }) },
    ...sortedBy(sort, ["name", "updated_at"]),
  });
  return (
    <Page
      title="Workflows"
      actions={
        <Link className="button primary" href={address("/workflows/new")} data-shortcut="new">
          <Icon name="plus" />
          New workflow
        </Link>
      }
    >
      <div className="filters">
        <SearchBox label="Search workflows by name" initial={search} onSearch={searchFor} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <WorkflowTable workflows={data.workflows} filters={filters} />}
      {data?.total === 0 && (
        <Empty title={isNarrowed ? "No matching workflows" : "No workflows yet"}>
          <p>
            A workflow is a function that runs when an event happens in a room, for example to greet a
            participant or to call another service. Create one and test it with a sample event.
          </p>
        </Empty>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </Page>
  );
}

/** What starts the workflow. */
const startsOf = ({ events, schedule, http_trigger }: Workflow): string[] => [
  ...events,
  ...(schedule === null ? [] : [`${schedule.cron} (${schedule.timezone})`]),
  ...(http_trigger ? ["requests"] : []),
];

const COLUMNS = [
  { label: "Name", sort: "name" },
  ...["Runs on", "Rooms", "State"],
  { label: "Updated", sort: "updated_at" },
];

interface WorkflowTableProps {
  readonly workflows: readonly Workflow[];
  readonly filters: Filters;
}

function WorkflowTable({ workflows, filters }: WorkflowTableProps) {
  const address = useAddress();
  const key = useKey();
  const selection = useSelection(workflows, ({ id }) => id);
  const actions = useWorkflowActions();
  return (
    <>
      {workflows.length > 0 && (
        <Table label="Workflows" columns={COLUMNS} {...{ selection, filters }}>
          {workflows.map((workflow) => (
            <tr key={workflow.id} data-selected={selection.has(workflow.id) || undefined}>
              <SelectCell selection={selection} id={workflow.id} name={workflow.name} />
              <th scope="row">
                <Link href={address(`/workflows/${workflow.id}`)}>{workflow.name}</Link>
              </th>
              <td>{startsOf(workflow).join(", ")}</td>
              <td>{workflow.room_id === null ? "all" : <code>{workflow.room_id.slice(0, 8)}</code>}</td>
              <td>
                <Badge tone={workflow.enabled ? "good" : "waiting"}>
                  {workflow.enabled ? "enabled" : "disabled"}
                </Badge>
              </td>
              <td>
                <Time at={workflow.updated_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "workflow", many: "workflows" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("workflows"), key("workflow")]}
      />
    </>
  );
}

/** What can be done with several workflows. */
function useWorkflowActions(): readonly BulkAction<Workflow>[] {
  const { workflows } = useCurrent().atrium;
  return [
    {
      label: "Enable",
      done: "enabled",
      consequences: "They run again on what starts them.",
      applies: ({ enabled }) => !enabled,
      run: oneByOne(({ id }) => workflows.update(id, { enabled: true })),
    },
    {
      label: "Disable",
      done: "disabled",
      consequences: "Nothing starts them until they are enabled again. Runs in progress finish.",
      applies: ({ enabled }) => enabled,
      run: oneByOne(({ id }) => workflows.update(id, { enabled: false })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their code, versions, secrets and runs are deleted with them. Runs in progress finish. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => workflows.delete(id)),
    },
  ];
}
