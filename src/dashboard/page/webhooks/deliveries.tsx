/** The deliveries of a webhook, newest first, updated live. */
import type { Delivery } from "atrium/server";
import { useSearchParams } from "wouter";
import { usePage, withParameter } from "../data/use-page.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { DeliveryRow } from "./delivery-row.tsx";
import { useDeliveries } from "./use-deliveries.ts";

const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { limit, offset, goTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const status = STATUSES.find((one) => one === parameters.get("status"));
  const { data, error, refetch } = useDeliveries(webhookId, { limit, offset, ...(status && { status }) });
  return (
    <section aria-labelledby="deliveries">
      <div className="title-row">
        <h2 id="deliveries">Deliveries</h2>
        <SelectField
          label="Filter by status"
          isLabelHidden
          value={status ?? ""}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setParameters((known) => withParameter(withParameter(known, "page", ""), "status", value));
          }}
        >
          <option value="">All</option>
          {STATUSES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
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
          {status === undefined
            ? "No deliveries yet. Send a test event to see one."
            : "No matching deliveries."}
        </p>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </section>
  );
}
