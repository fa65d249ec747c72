/** A few figures in a row. */
import { Link } from "wouter";

export interface Figure {
  readonly label: string;
  readonly value: number | string;
  /** Where more of it is seen. */
  readonly href?: string;
}

export const Figures = ({ figures }: { readonly figures: readonly Figure[] }) => (
  <dl className="figures">
    {figures.map(({ label, value, href }) => (
      <div key={label}>
        <dt>{href === undefined ? label : <Link href={href}>{label}</Link>}</dt>
        <dd>{typeof value === "number" ? value.toLocaleString("en") : value}</dd>
      </div>
    ))}
  </dl>
);
