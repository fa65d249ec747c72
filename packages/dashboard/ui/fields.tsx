/** Fields of forms. */

import {
  type ChangeEvent,
  type ComponentProps,
  createContext,
  type ElementType,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
} from "react";

/** A labeled text field. */
interface TextFieldProps
  extends Omit<ComponentProps<"input">, "ref" | "defaultValue" | "value" | "onChange"> {
  readonly label: string;
  readonly name: string;
  readonly hint?: ReactNode;
  readonly defaultValue?: string;
  /** Together with `onChange`. */
  readonly value?: string;
  readonly onChange?: (event: ChangeEvent<HTMLInputElement>) => void;
  /** The lines of a field for several. */
  readonly rows?: number;
}

/** The problems of a form's fields, by their names. */
export const FieldProblems = createContext<Readonly<Record<string, string>>>({});

const controlOf = (rows: number | undefined): ElementType => (rows === undefined ? "input" : "textarea");

export function TextField({ label, hint, name, rows, autoFocus = false, ...input }: TextFieldProps) {
  const id = useId();
  const control = useRef<HTMLElement>(null);
  // The attribute counts when a page loads; this field may come later.
  useEffect(() => {
    if (autoFocus) control.current?.focus();
  }, [autoFocus]);
  const problem = useContext(FieldProblems)[name];
  const Control = controlOf(rows);
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <Control
        ref={control}
        id={id}
        name={name}
        className={rows === undefined ? "input" : "input area"}
        autoComplete="off"
        aria-describedby={about || undefined}
        aria-invalid={problem !== undefined || undefined}
        {...(rows !== undefined && { spellCheck: false, rows })}
        {...input}
      />
      {hint && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="field-error" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

export const NameField = (props: Partial<TextFieldProps>) => (
  <TextField label="Name" name="name" required maxLength={255} {...props} />
);

/** A labeled native select. */
interface SelectFieldProps extends ComponentProps<"select"> {
  readonly label: string;
  /** The values, with their labels where these differ. */
  readonly options: readonly (string | readonly [value: string, label: string])[];
  readonly hint?: ReactNode;
  /** The sentence for a required field without a choice. */
  readonly missing?: string;
  /** Hides the label except from screen readers. */
  readonly isLabelHidden?: boolean;
}

export function SelectField(props: SelectFieldProps) {
  const { label, options, hint, missing, isLabelHidden = false, ...select } = props;
  const id = useId();
  const problem = useContext(FieldProblems)[select.name ?? ""];
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <select
        id={id}
        className="input"
        required={missing !== undefined}
        data-missing={missing}
        aria-describedby={about || undefined}
        aria-invalid={problem !== undefined || undefined}
        {...select}
      >
        {options.map((option) => {
          const [value, text] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
      {hint && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="field-error" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

/** A checkbox with its label. */
interface ChoiceProps {
  readonly isOn: boolean;
  /** True for a box of several items of which some are chosen. */
  readonly isPartly?: boolean;
  /** The accessible name, where the content shows less. */
  readonly label?: string;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}

export const Choice = ({ isOn, isPartly = false, label, onChange, children }: ChoiceProps) => (
  <label className="choice">
    <input
      type="checkbox"
      className="select-box"
      aria-label={label}
      checked={isOn}
      ref={(box) => {
        if (box !== null) box.indeterminate = isPartly && !isOn;
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    {children}
  </label>
);
