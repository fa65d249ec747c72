/** The deliveries of a webhook, newest first, updated live, of which several can be sent again. */

import type { Delivery, DeliveryAttempt } from "atrium/server";
import type { ReactNode } from "react";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { useFilters } from "../data/filters.ts";
import { useApiQuery, useCurrent } from "../data/organization.tsx";
import { allAtOnce } from "../ui/bulk-dialog.tsx";
import { CodeBlock, prettyJson } from "../ui/button.tsx";
import { ActionButton } from "../ui/dialog.tsx";
import { Badge, type BadgeProps, CausedBy, Details, Empty, Paged } from "../ui/feedback.tsx";
import { FilterSelect } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { SelectableCards } from "../ui/selectable.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const REFRESH_MS = 2000;
const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];
const TONES: Readonly<Record<Delivery["status"], BadgeProps["tone"]>> = {
  pending: "waiting",
  success: "good",
  failed: "bad",
};

const toOptions = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { webhooks } = useCurrent().atrium;
  const filters = useFilters();
  const status = STATUSES.find((one) => one === filters.get("status"));
  const event = WEBHOOK_EVENT_NAMES.find((one) => one === filters.get("event"));
  const query = { ...filters.page(), ...(status && { status }), ...(event && { event }) };
  const deliveries = useApiQuery(
    ["webhook", webhookId, "deliveries", query],
    () => webhooks.listDeliveries(webhookId, query),
    { refetchInterval: REFRESH_MS },
  );
  const redeliver = allAtOnce(async (items: readonly Delivery[]) => {
    const ids = items.map(({ id }) => id);
    const { missing } = await webhooks.redeliverAll(webhookId, ids);
    const gone = items.filter(({ id }) => missing.includes(id));
    return new Map(gone.map((item) => [item, new Error("It is not kept any more.")]));
  });
  const empty = (
    <Empty
      filters={filters}
      title="No deliveries yet"
      create="Send the first event"
      command={["POST", `/webhooks/${webhookId}/test`]}
    >
      Every event for the endpoint is listed here with its attempts.
    </Empty>
  );
  return (
    <Section
      id="deliveries"
      title="Deliveries"
      beside={
        <>
          {" "}
          <FilterSelect
            label="Filter by status"
            filters={filters}
            name="status"
            all="All"
            options={toOptions(STATUSES)}
          />
          <FilterSelect
            label="Filter by event"
            filters={filters}
            name="event"
            all="All events"
            options={toOptions(WEBHOOK_EVENT_NAMES)}
          />
        </>
      }
    >
      <Paged query={deliveries} {...{ filters, empty }}>
        {(data) => (
          <SelectableCards
            tag="ul"
            className="records"
            cardClass={() => "selectable"}
            noun={{ one: "delivery", many: "deliveries" }}
            items={data.deliveries}
            idOf={({ id }) => id}
            nameOf={({ event: name, id }) => `${name} (${id.slice(0, 8)})`}
            selectedName={({ event: name, created_at }) => `the delivery of ${name}, ${created_at}`}
            actions={[
              {
                label: "Redeliver",
                done: "queued again",
                consequences:
                  "The receiver gets their events once more, with the same IDs, as new deliveries.",
                run: redeliver,
              },
            ]}
            refreshes={[["webhook", webhookId, "deliveries"]]}
          >
            {(delivery, box) => <DeliveryRow {...{ delivery, box }} />}
          </SelectableCards>
        )}
      </Paged>
    </Section>
  );
}

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly box: ReactNode;
}

const DeliveryRow = ({ delivery, box }: DeliveryRowProps) => (
  <>
    {box}
    <Details
      summary={
        <>
          <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
          <code>{delivery.event}</code>
          <span className="grow soft">{delivery.error}</span>
          <span className="soft">
            {delivery.attempts === 1 ? "1 attempt" : `${delivery.attempts} attempts`}
          </span>
          <Time at={delivery.created_at} />
        </>
      }
    >
      <Detail delivery={delivery} />
    </Details>
  </>
);

const ATTEMPT_COLUMNS: readonly Column<DeliveryAttempt>[] = [
  { label: "Time", cell: ({ attempted_at }) => <Time at={attempted_at} /> },
  { label: "Duration", className: "number", cell: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
  { label: "Status", cell: ({ status_code }) => status_code ?? "–" },
  {
    label: "Error",
    cell: ({ error_class, error }) => (error_class === null ? "–" : `${error_class}: ${error}`),
  },
  { label: "Response", className: "json", cell: ({ answer }) => <code>{answer}</code> },
];

function Detail({ delivery }: { readonly delivery: Delivery }) {
  const { id, webhook_id, next_retry_at, log, request_id, payload } = delivery;
  const { request_headers: request, response_headers: response } = log.at(-1) ?? {};
  return (
    <div className="detail">
      {next_retry_at && (
        <p>
          Next retry <Time at={next_retry_at} />.
        </p>
      )}
      <Table
        label="Attempts"
        items={log}
        idOf={({ attempted_at }) => attempted_at}
        columns={ATTEMPT_COLUMNS}
      />
      <CausedBy requestId={request_id} />
      {request && <CodeBlock what="Request headers" text={formatHeaders(request)} />}
      {response && <CodeBlock what="Response headers" text={formatHeaders(response)} />}
      <CodeBlock what="Payload" text={prettyJson(payload)} />
      <ActionButton
        label="Redeliver"
        variant="plain"
        act={({ webhooks }) => webhooks.redeliver(webhook_id, id)}
        options={{ toast: "Redelivery queued", refreshes: [["webhook", webhook_id, "deliveries"]] }}
      />
    </div>
  );
}

const formatHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
