/** A choice of a few, with its name above it: the browser's own list, which every keyboard and screen reader knows. */
import { type ComponentProps, type ReactNode, useId } from "react";

export interface SelectFieldProps extends ComponentProps<"select"> {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The name is for those who listen only, where the place says it. */
  readonly isBare?: boolean;
}

export function SelectField({ label, hint, isBare = false, children, ...select }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={isBare ? "hidden" : undefined}>
        {label}
      </label>
      <select id={id} className="input" aria-describedby={hint ? `${id}-hint` : undefined} {...select}>
        {children}
      </select>
      {hint && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
