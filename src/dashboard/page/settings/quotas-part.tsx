/** The organization's quotas: what is used, and what is allowed. */
import type { Quota } from "atrium/server";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { formatSize } from "../ui/size.ts";
import { Table } from "../ui/table.tsx";
import { useQuotas } from "./use-quotas.ts";

const LABELS: Readonly<Record<Quota["name"], string>> = {
  rooms: "Rooms",
  users: "Users",
  webhooks: "Webhooks",
  workflows: "Workflows",
  file_bytes: "Stored files",
  store_bytes: "Stores and documents",
  online_users: "Users online",
};

const amount = (name: Quota["name"], count: number): string =>
  name.endsWith("_bytes") ? formatSize(count) : count.toLocaleString("en");

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
        The counts are exact; users online are counted about a second late, and stores to the MiB of each
        room. The operator of this service can raise a limit. Read more about{" "}
        <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </section>
  );
}

function Row({ quota: { name, used, limit } }: { readonly quota: Quota }) {
  const max = Math.max(limit, 1);
  return (
    <tr>
      <th scope="row">{LABELS[name]}</th>
      <td>{amount(name, used)}</td>
      <td>{amount(name, limit)}</td>
      <td>
        <meter
          aria-label={`Used of ${LABELS[name]}`}
          value={Math.min(used, max)}
          max={max}
          high={0.8 * max}
          optimum={0}
        />
      </td>
    </tr>
  );
}
