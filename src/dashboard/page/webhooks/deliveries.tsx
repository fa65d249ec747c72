/** What was and is to be delivered, newest first, as it happens. */
import type { Delivery } from "atrium/server";
import { useSearchParams } from "wouter";
import { usePage, withParameter } from "../data/use-page.ts";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { DeliveryRow } from "./delivery-row.tsx";
import { useDeliveries } from "./use-deliveries.ts";

const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { limit, offset, turnTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const status = STATUSES.find((one) => one === parameters.get("status"));
  const { data, error, refetch } = useDeliveries(webhookId, { limit, offset, ...(status && { status }) });
  return (
    <section aria-labelledby="deliveries">
      <div className="title-row">
        <h2 id="deliveries">Deliveries</h2>
        <SelectField
          label="Which deliveries"
          isBare
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
      <Refusal error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {data?.total === 0 && (
        <p className="soft">
          {status === undefined
            ? "Nothing was delivered yet. Send a test, or let something happen in a room."
            : "None is like that."}
        </p>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </section>
  );
}
