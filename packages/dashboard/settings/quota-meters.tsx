/** The use of each quota at a glance. */
import { isSize, QUOTA_ENTRIES } from "@atrium/contract/resources/quota.ts";
import type { Quota } from "atrium/server";
import { useApiQuery } from "../data/organization.tsx";
import { formatSize } from "../ui/time.tsx";

export const useQuotas = () => useApiQuery(["quotas"], ({ organization }) => organization.listQuotas());

/** Such as "12,000" or "3 MiB". */
const amountOf = (name: Quota["name"], count: number): string =>
  isSize(name) ? formatSize(count) : count.toLocaleString("en");

/** The share from which a meter warns. */
const MUCH = 0.8;

function QuotaMeter({ quota: { name, used, limit } }: { readonly quota: Quota }) {
  const max = Math.max(limit, 1);
  return (
    <meter
      aria-label={`Used of ${QUOTA_ENTRIES[name].label}`}
      value={Math.min(used, max)}
      max={max}
      high={MUCH * max}
      optimum={0}
    />
  );
}

export const isHalfUsed = ({ used, limit }: Quota): boolean => used * 2 >= limit;

/** Nothing without quotas. */
export const QuotaMeters = ({ quotas }: { readonly quotas: readonly Quota[] }) =>
  quotas.length > 0 && (
    <ul className="quota-meters" aria-label="Quotas">
      {quotas.map((quota) => (
        <li key={quota.name}>
          <span>{QUOTA_ENTRIES[quota.name].label}</span>
          <QuotaMeter quota={quota} />
          <span className="soft small">
            {amountOf(quota.name, quota.used)} of {amountOf(quota.name, quota.limit)}
          </span>
        </li>
      ))}
    </ul>
  );
