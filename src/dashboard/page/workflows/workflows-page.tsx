/** The list of workflows. */
import type { Workflow } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useWorkflows } from "./use-workflows.ts";

export function WorkflowsPage() {
  const address = useAddress();
  const { limit, offset, search, searchFor, goTo } = usePage();
  const { data, error, refetch } = useWorkflows({ limit, offset, ...(search && { search }) });
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
      {data && data.workflows.length > 0 && <WorkflowTable workflows={data.workflows} />}
      {data?.total === 0 && (
        <Empty title={search === "" ? "No workflows yet" : "No matching workflows"}>
          <p>
            A workflow is a function that runs when an event happens in a room, for example to greet a
            participant or to call another service. Create one and test it with a sample event.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </Page>
  );
}

/** What starts the workflow. */
const startsOf = ({ events, schedule, http_trigger }: Workflow): string[] => [
  ...events,
  ...(schedule === null ? [] : [`${schedule.cron} (${schedule.timezone})`]),
  ...(http_trigger ? ["requests"] : []),
];

function WorkflowTable({ workflows }: { readonly workflows: readonly Workflow[] }) {
  const address = useAddress();
  return (
    <Table label="Workflows" columns={["Name", "Runs on", "Rooms", "State", "Updated"]}>
      {workflows.map((workflow) => (
        <tr key={workflow.id}>
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
  );
}
