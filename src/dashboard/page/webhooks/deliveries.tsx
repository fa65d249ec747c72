/** The deliveries of a webhook, newest first, updated live, of which several can be sent again. */
import type { Delivery } from "atrium/server";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { useKey } from "../data/organization.tsx";
import { useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect } from "../ui/fields.tsx";
import { SelectAllRow } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Pager } from "../ui/table.tsx";
import { DeliveryRow } from "./delivery-row.tsx";
import { useDeliveries, useDeliveryActions } from "./use-deliveries.ts";

const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];

const toOptions = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const filters = useFilters();
  const { get, limit, offset } = filters;
  const status = STATUSES.find((one) => one === get("status"));
  const event = WEBHOOK_EVENT_NAMES.find((one) => one === get("event"));
  const filter = { ...(status && { status }), ...(event && { event }) };
  const { data, error, refetch } = useDeliveries(webhookId, { limit, offset, ...filter });
  return (
    <section aria-labelledby="deliveries">
      <div className="title-row">
        <h2 id="deliveries">Deliveries</h2>
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
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <DeliveryRows webhookId={webhookId} deliveries={data.deliveries} />}
      {data?.total === 0 && (
        <p className="soft">
          {status === undefined && event === undefined
            ? "No deliveries yet. Send a test event to see one."
            : "No matching deliveries."}
        </p>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}

interface DeliveryRowsProps {
  readonly webhookId: string;
  readonly deliveries: readonly Delivery[];
}

function DeliveryRows({ webhookId, deliveries }: DeliveryRowsProps) {
  const key = useKey();
  const selection = useSelection(deliveries, ({ id }) => id);
  const actions = useDeliveryActions(webhookId);
  return (
    <div className="selectable-list" data-selection="">
      {deliveries.length > 1 && <SelectAllRow selection={selection} />}
      <ul className="records">
        {deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} selection={selection} />
        ))}
      </ul>
      <SelectionBar
        selection={selection}
        noun={{ one: "delivery", many: "deliveries" }}
        nameOf={({ event, id }) => `${event} (${id.slice(0, 8)})`}
        actions={actions}
        invalidates={[key("webhook", webhookId, "deliveries")]}
      />
    </div>
  );
}
