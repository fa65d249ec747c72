/** A form: what was entered goes to `onSubmit` as text by field, and what the service says no to stands below. */
import { Form as Base } from "@base-ui/react/form";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Refusal } from "./error-message.tsx";

export type Values = Readonly<Record<string, string>>;

export interface FormProps {
  readonly onSubmit: (values: Values) => void;
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** What the button says that sends it. */
  readonly verb: string;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

export const Form = ({ onSubmit, error, isBusy, verb, onCancel, children }: FormProps) => (
  <Base
    className="form"
    onSubmit={(event) => {
      event.preventDefault();
      if (!isBusy) onSubmit(readForm(event.currentTarget));
    }}
  >
    {children}
    <Refusal error={error} />
    <footer>
      {onCancel && <Button onClick={onCancel}>Cancel</Button>}
      <Button type="submit" look="primary" isBusy={isBusy}>
        {verb}
      </Button>
    </footer>
  </Base>
);

const readForm = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
