/** The organization's quotas: what is used, and what is allowed. */
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { QuotaMeters } from "./quota-meters.tsx";
import { useQuotas } from "./use-quotas.ts";

export function QuotasPart() {
  const { data, error, refetch } = useQuotas();
  return (
    <section aria-labelledby="quotas">
      <h2 id="quotas">Quotas</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <QuotaMeters quotas={data.quotas} />}
      <p className="soft">
        Users online are shown about a second late, requests per second up to 20 seconds, waiting events up to
        a minute, and stores and documents to the MiB of each room. All other counts are exact. The operator
        of this service can raise a limit. Read more about{" "}
        <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </section>
  );
}
