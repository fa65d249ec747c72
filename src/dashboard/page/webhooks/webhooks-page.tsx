/** All webhooks: where events go to. */
import type { Webhook } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { useWebhooks } from "./use-webhooks.ts";

export function WebhooksPage() {
  const { limit, offset, search, searchFor, turnTo } = usePage();
  const { data, error, refetch } = useWebhooks({ limit, offset, ...(search && { search }) });
  return (
    <Page title="Webhooks" actions={<NewWebhook />}>
      <div className="filters">
        <SearchBox label="Search webhooks by address" initial={search} onSearch={searchFor} />
      </div>
      <Refusal error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && data.webhooks.length > 0 && <WebhookTable webhooks={data.webhooks} />}
      {data?.total === 0 && (
        <Empty title={search === "" ? "No webhooks yet" : "No webhook is like that"}>
          <p>
            A webhook tells your back end what happens in rooms: who came, who left, whose session ended. Make
            one with the address that is to be told, then send it a test.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </Page>
  );
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const address = useAddress();
  return (
    <Table label="Webhooks" columns={["Address", "Events", "Rooms", "State", "Made"]}>
      {webhooks.map((webhook) => (
        <tr key={webhook.id}>
          <th scope="row">
            <Link href={address(`/webhooks/${webhook.id}`)}>{webhook.url}</Link>
          </th>
          <td>{tellEvents(webhook.events)}</td>
          <td>{webhook.room_id === null ? "all" : <code>{webhook.room_id.slice(0, 8)}</code>}</td>
          <td>
            <Badge tone={webhook.enabled ? "good" : "waiting"}>{webhook.enabled ? "on" : "off"}</Badge>
          </td>
          <td>
            <Time at={webhook.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const tellEvents = (events: readonly string[]): string =>
  events.length <= 2 ? events.join(", ") : `${events[0]} and ${events.length - 1} more`;
