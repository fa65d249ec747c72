/** A labeled multi-line text field. */
import { Field } from "@base-ui/react/field";
import type { ComponentProps } from "react";

export interface TextAreaProps extends Omit<ComponentProps<"textarea">, "ref" | "defaultValue"> {
  readonly label: string;
  readonly name: string;
  readonly hint?: string;
  readonly defaultValue?: string;
}

export const TextArea = ({ label, hint, name, defaultValue, ...rest }: TextAreaProps) => (
  <Field.Root name={name} className="field">
    <Field.Label>{label}</Field.Label>
    <Field.Control
      className="input area"
      render={<textarea spellCheck={false} {...rest} />}
      {...(defaultValue !== undefined && { defaultValue })}
    />
    {hint && <Field.Description className="soft small">{hint}</Field.Description>}
    <Field.Error className="field-error" />
  </Field.Root>
);
