/** A form that passes its fields to `onSubmit` as text and shows the error below them. */
import { Form as Base } from "@base-ui/react/form";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";

export type Values = Readonly<Record<string, string>>;

export interface FormProps {
  readonly onSubmit: (values: Values) => void;
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** The label of the submit button. */
  readonly submitLabel: string;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

export const Form = ({ onSubmit, error, isBusy, submitLabel, onCancel, children }: FormProps) => (
  <Base
    className="form"
    onSubmit={(event) => {
      event.preventDefault();
      if (!isBusy) onSubmit(readForm(event.currentTarget));
    }}
  >
    {children}
    <ErrorMessage error={error} />
    <footer>
      {onCancel && <Button onClick={onCancel}>Cancel</Button>}
      <Button type="submit" variant="primary" isBusy={isBusy}>
        {submitLabel}
      </Button>
    </footer>
  </Base>
);

const readForm = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
