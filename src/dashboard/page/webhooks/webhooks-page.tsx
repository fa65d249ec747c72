/** The list of webhooks, of which several can be enabled, disabled or deleted. */
import type { Webhook } from "atrium/server";
import { Link } from "wouter";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAddress } from "../data/use-address.ts";
import { chosen, type Filters, sortedBy, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { Badge, Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { type BulkAction, SelectionBar } from "../ui/several.tsx";
import { Pager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { useWebhooks } from "./use-webhooks.ts";

export default function WebhooksPage() {
  const filters = useFilters();
  const { limit, offset, search, searchFor, sort, isNarrowed } = filters;
  const { data, error, refetch } = useWebhooks({
    ...{ limit, offset, ...chosen({ search }) },
    ...sortedBy(sort, ["url", "created_at"]),
  });
  return (
    <Page title="Webhooks" actions={<NewWebhook />}>
      <div className="filters">
        <SearchBox label="Search webhooks by endpoint" initial={search} onSearch={searchFor} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <WebhookTable webhooks={data.webhooks} filters={filters} />}
      {data?.total === 0 && (
        <Empty title={isNarrowed ? "No matching webhooks" : "No webhooks yet"}>
          <p>
            A webhook notifies your back end of events in rooms, such as users who join or leave. Create one,
            then send a test event.
          </p>
        </Empty>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </Page>
  );
}

const COLUMNS = [
  { label: "Endpoint", sort: "url" },
  ...["Events", "Rooms", "State"],
  { label: "Created", sort: "created_at" },
];

interface WebhookTableProps {
  readonly webhooks: readonly Webhook[];
  readonly filters: Filters;
}

function WebhookTable({ webhooks, filters }: WebhookTableProps) {
  const address = useAddress();
  const key = useKey();
  const selection = useSelection(webhooks, ({ id }) => id);
  const actions = useWebhookActions();
  return (
    <>
      {webhooks.length > 0 && (
        <Table label="Webhooks" columns={COLUMNS} {...{ selection, filters }}>
          {webhooks.map((webhook) => (
            <tr key={webhook.id} data-selected={selection.has(webhook.id) || undefined}>
              <SelectCell selection={selection} id={webhook.id} name={webhook.url} />
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
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "webhook", many: "webhooks" }}
        nameOf={({ url }) => url}
        actions={actions}
        invalidates={[key("webhooks"), key("webhook")]}
      />
    </>
  );
}

const summarizeEvents = (events: readonly string[]): string =>
  events.length <= 2 ? events.join(", ") : `${events[0]} and ${events.length - 1} more`;

/** What can be done with several webhooks. */
function useWebhookActions(): readonly BulkAction<Webhook>[] {
  const { webhooks } = useCurrent().atrium;
  return [
    {
      label: "Enable",
      done: "enabled",
      consequences: "They receive events again.",
      applies: ({ enabled }) => !enabled,
      run: oneByOne(({ id }) => webhooks.update(id, { enabled: true })),
    },
    {
      label: "Disable",
      done: "disabled",
      consequences: "They receive no events until they are enabled again.",
      applies: ({ enabled }) => enabled,
      run: oneByOne(({ id }) => webhooks.update(id, { enabled: false })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their pending deliveries are cancelled and their histories deleted. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => webhooks.delete(id)),
    },
  ];
}
