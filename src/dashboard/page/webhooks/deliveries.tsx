/** The deliveries of a webhook, newest first, updated live. */
import type { Delivery } from "atrium/server";
import { useSearchParams } from "wouter";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { usePage, withParameter } from "../data/use-page.ts";
import { Button } from "../ui/button.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { DeliveryRow } from "./delivery-row.tsx";
import { useDeliveries, useRedeliverAll } from "./use-deliveries.ts";

const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { limit, offset, goTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const status = STATUSES.find((one) => one === parameters.get("status"));
  const event = WEBHOOK_EVENT_NAMES.find((one) => one === parameters.get("event"));
  const filter = { ...(status && { status }), ...(event && { event }) };
  const { data, error, refetch } = useDeliveries(webhookId, { limit, offset, ...filter });
  const redeliver = useRedeliverAll(webhookId);
  const choose = (parameter: "status" | "event", value: string) =>
    setParameters((known) => withParameter(withParameter(known, "page", ""), parameter, value));
  return (
    <section aria-labelledby="deliveries">
      <div className="title-row">
        <h2 id="deliveries">Deliveries</h2>
        <SelectField
          label="Filter by status"
          isLabelHidden
          value={status ?? ""}
          onChange={({ currentTarget }) => choose("status", currentTarget.value)}
        >
          <option value="">All</option>
          {STATUSES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <SelectField
          label="Filter by event"
          isLabelHidden
          value={event ?? ""}
          onChange={({ currentTarget }) => choose("event", currentTarget.value)}
        >
          <option value="">All events</option>
          {WEBHOOK_EVENT_NAMES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        {status === "failed" && data !== undefined && data.deliveries.length > 0 && (
          <Button
            isBusy={redeliver.isPending}
            onClick={() => redeliver.mutate(data.deliveries.map(({ id }) => id))}
          >
            Redeliver these
          </Button>
        )}
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {data?.total === 0 && (
        <p className="soft">
          {status === undefined && event === undefined
            ? "No deliveries yet. Send a test event to see one."
            : "No matching deliveries."}
        </p>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </section>
  );
}
