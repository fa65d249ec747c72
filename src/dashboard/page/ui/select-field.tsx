/** A labeled native select. */
import { type ComponentProps, type ReactNode, useId } from "react";

export interface SelectFieldProps extends ComponentProps<"select"> {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Hides the label except from screen readers. */
  readonly isLabelHidden?: boolean;
}

export function SelectField({ label, hint, isLabelHidden = false, children, ...select }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? "hidden" : undefined}>
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
