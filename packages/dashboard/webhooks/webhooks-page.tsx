/** The list of webhooks, of which several can be enabled, disabled or deleted. */
import type { ListedWebhook } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { CodeBlock } from "../ui/button.tsx";
import { Empty } from "../ui/feedback.tsx";
import { ListFilters } from "../ui/list-filters.tsx";
import { Page } from "../ui/page.tsx";
import { SelectablePage } from "../ui/selectable.tsx";
import { presentSuccesses, StateBadge, useSubscriberActions } from "../ui/subscribers.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewWebhook } from "./webhook-form.tsx";

const summarizeEvents = (events: readonly string[]): string =>
  events.length <= 2 ? events.join(", ") : `${events[0]} and ${events.length - 1} more`;

const COLUMNS: readonly Column<ListedWebhook>[] = [
  { label: "Endpoint", sort: "url", cell: ({ id, url }) => <Link href={`/webhooks/${id}`}>{url}</Link> },
  { label: "Events", cell: ({ events }) => summarizeEvents(events) },
  { label: "Rooms", cell: ({ room_id }) => (room_id === null ? "all" : <code>{room_id.slice(0, 8)}</code>) },
  { label: "Succeeded (24 h)", cell: ({ stats }) => stats && presentSuccesses(stats) },
  {
    label: "State",
    cell: ({ enabled, stats }) => <StateBadge enabled={enabled} isFailing={stats?.failing != null} />,
  },
  { label: "Created", sort: "created_at", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The events that an endpoint receives. */
const EXAMPLE_EVENT = `{
  "event": "user.created",
  "timestamp": "2026-01-31T09:31:00.000Z",
  "data": { "roomId": "board-1", "userId": "ada" }, …
}`;

export default function WebhooksPage() {
  const filters = useFilters();
  const query = {
    ...filters.page(["url", "created_at"]),
    ...chosen({ search: filters.search }),
    stats: "24h",
  } as const;
  const webhooks = useApiQuery(["webhooks", query], (atrium) => atrium.webhooks.list(query));
  const actions = useSubscriberActions<ListedWebhook>("webhooks", {
    enable: "They receive events again.",
    disable: "They receive no events until they are enabled again.",
    delete: "Their pending deliveries are cancelled and their histories deleted. This cannot be undone.",
  });
  const first = { url: "https://hooks.example.com/atrium", events: ["user.created"] };
  const empty = (
    <Empty
      filters={filters}
      title="No webhooks yet"
      create="Create a webhook"
      command={["POST", "/webhooks", first]}
      action={<CodeBlock what="An event" text={EXAMPLE_EVENT} />}
    >
      A webhook notifies your back end of events, such as users who join or leave. It receives each as JSON:
    </Empty>
  );
  return (
    <Page title="Webhooks" actions={<NewWebhook />}>
      {(filters.isNarrowed || webhooks.data?.total !== 0) && (
        <ListFilters label="Search webhooks by endpoint" filters={filters} />
      )}
      <div className="plain-list">
        <SelectablePage
          label="Webhooks"
          noun={{ one: "webhook", many: "webhooks" }}
          query={webhooks}
          itemsOf={(data) => data.webhooks}
          idOf={({ id }) => id}
          nameOf={({ url }) => url}
          columns={COLUMNS}
          {...{ filters, empty, actions }}
          refreshes={[["webhooks"], ["webhook"]]}
        />
      </div>
    </Page>
  );
}
