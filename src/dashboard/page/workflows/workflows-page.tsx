/** All workflows: code that runs when something happens. */
import type { Workflow } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
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
  const { limit, offset, search, searchFor, turnTo } = usePage();
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
      <Refusal error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && data.workflows.length > 0 && <WorkflowTable workflows={data.workflows} />}
      {data?.total === 0 && (
        <Empty title={search === "" ? "No workflows yet" : "No workflow is like that"}>
          <p>
            A workflow is a function that runs here when something happens in a room: greet whoever comes,
            write a summary when a session ends, tell another service. Write one, and try it on a sample
            event.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </Page>
  );
}

function WorkflowTable({ workflows }: { readonly workflows: readonly Workflow[] }) {
  const address = useAddress();
  return (
    <Table label="Workflows" columns={["Name", "Events", "Rooms", "State", "Changed"]}>
      {workflows.map((workflow) => (
        <tr key={workflow.id}>
          <th scope="row">
            <Link href={address(`/workflows/${workflow.id}`)}>{workflow.name}</Link>
          </th>
          <td>{workflow.events.join(", ")}</td>
          <td>{workflow.room_id === null ? "all" : <code>{workflow.room_id.slice(0, 8)}</code>}</td>
          <td>
            <Badge tone={workflow.enabled ? "good" : "waiting"}>{workflow.enabled ? "on" : "off"}</Badge>
          </td>
          <td>
            <Time at={workflow.updated_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
