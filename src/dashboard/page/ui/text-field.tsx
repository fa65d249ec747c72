/** A labeled single-line text field. */
import { Field } from "@base-ui/react/field";
import type { ChangeEvent, ComponentProps, ReactNode } from "react";

export interface TextFieldProps
  extends Omit<ComponentProps<"input">, "ref" | "defaultValue" | "value" | "onChange"> {
  readonly label: string;
  readonly name: string;
  readonly hint?: ReactNode;
  readonly defaultValue?: string;
  /** With `onChange`, what the field shows. */
  readonly value?: string;
  readonly onChange?: (event: ChangeEvent<HTMLInputElement>) => void;
}

export const TextField = ({ label, hint, name, ...input }: TextFieldProps) => (
  <Field.Root name={name} className="field">
    <Field.Label>{label}</Field.Label>
    <Field.Control className="input" autoComplete="off" {...input} />
    {hint && <Field.Description className="soft small">{hint}</Field.Description>}
    <Field.Error className="field-error" />
  </Field.Root>
);
