/** How much of each quota is used, at a glance. */
import type { Quota } from "atrium/server";
import { amountOf, QUOTA_LABELS, QuotaMeter } from "./quota.tsx";

export const QuotaMeters = ({ quotas }: { readonly quotas: readonly Quota[] }) => (
  <ul className="quota-meters" aria-label="Quotas">
    {quotas.map((quota) => (
      <li key={quota.name}>
        <span>{QUOTA_LABELS[quota.name]}</span>
        <QuotaMeter quota={quota} />
        <span className="soft small">
          {amountOf(quota.name, quota.used)} of {amountOf(quota.name, quota.limit)}
        </span>
      </li>
    ))}
  </ul>
);
