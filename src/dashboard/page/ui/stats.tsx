/** Rows of statistics. */
import { Link } from "wouter";

interface Stat {
  readonly label: string;
  readonly value: number | string;
  /** The page with the details. */
  readonly href?: string;
}

export const Stats = ({ stats }: { readonly stats: readonly Stat[] }) => (
  <dl className="stats">
    {stats.map(({ label, value, href }) => (
      <div key={label}>
        <dt>{href === undefined ? label : <Link href={href}>{label}</Link>}</dt>
        <dd>{typeof value === "number" ? value.toLocaleString("en") : value}</dd>
      </div>
    ))}
  </dl>
);
