/** The organization's quotas: what is used, and what is allowed. */
import type { Quota } from "atrium/server";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Table } from "../ui/table.tsx";
import { amountOf, QUOTA_LABELS, QuotaMeter } from "./quota.tsx";
import { useQuotas } from "./use-quotas.ts";

export function QuotasPart() {
  const { data, error, refetch } = useQuotas();
  return (
    <section aria-labelledby="quotas">
      <h2 id="quotas">Quotas</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && (
        <Table label="List of quotas" columns={["Quota", "Used", "Limit", "!Share used"]}>
          {data.quotas.map((quota) => (
            <Row key={quota.name} quota={quota} />
          ))}
        </Table>
      )}
      <p className="soft">
        The counts are exact; users online are counted about a second late, stores to the MiB of each room,
        waiting events up to a minute late, and requests up to 20 seconds. The operator of this service can
        raise a limit. Read more about <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </section>
  );
}

const Row = ({ quota }: { readonly quota: Quota }) => (
  <tr>
    <th scope="row">{QUOTA_LABELS[quota.name]}</th>
    <td>{amountOf(quota.name, quota.used)}</td>
    <td>{amountOf(quota.name, quota.limit)}</td>
    <td>
      <QuotaMeter quota={quota} />
    </td>
  </tr>
);
