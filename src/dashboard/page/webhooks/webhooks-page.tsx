/** The list of webhooks. */
import type { Webhook } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { useWebhooks } from "./use-webhooks.ts";

export function WebhooksPage() {
  const { limit, offset, search, searchFor, goTo } = usePage();
  const { data, error, refetch } = useWebhooks({ limit, offset, ...(search && { search }) });
  return (
    <Page title="Webhooks" actions={<NewWebhook />}>
      <div className="filters">
        <SearchBox label="Search webhooks by endpoint" initial={search} onSearch={searchFor} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && data.webhooks.length > 0 && <WebhookTable webhooks={data.webhooks} />}
      {data?.total === 0 && (
        <Empty title={search === "" ? "No webhooks yet" : "No matching webhooks"}>
          <p>
            A webhook notifies your back end of events in rooms, such as users who join or leave. Create one,
            then send a test event.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </Page>
  );
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const address = useAddress();
  return (
    <Table label="Webhooks" columns={["Endpoint", "Events", "Rooms", "State", "Created"]}>
      {webhooks.map((webhook) => (
        <tr key={webhook.id}>
          <th scope="row">
            <Link href={address(`/webhooks/${webhook.id}`)}>{webhook.url}</Link>
          </th>
          <td>{summarizeEvents(webhook.events)}</td>
          <td>{webhook.room_id === null ? "all" : <code>{webhook.room_id.slice(0, 8)}</code>}</td>
          <td>
            <Badge tone={webhook.enabled ? "good" : "waiting"}>
              {webhook.enabled ? "enabled" : "disabled"}
            </Badge>
          </td>
          <td>
            <Time at={webhook.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const summarizeEvents = (events: readonly string[]): string =>
  events.length <= 2 ? events.join(", ") : `${events[0]} and ${events.length - 1} more`;
