/** A form that passes its fields to `onSubmit` as text and shows a refusal beside the field it concerns, any other error below them. */
import { Form as Base } from "@base-ui/react/form";
import { type ReactNode, useRef } from "react";
import { fieldProblemOf } from "../data/advice.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./feedback.tsx";

export type Values = Readonly<Record<string, string>>;

export interface FormProps {
  readonly onSubmit: (values: Values) => void;
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** The label of the submit button. */
  readonly submitLabel: string;
  /** True for one that cannot be undone. */
  readonly isDanger?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

export function Form({
  onSubmit,
  error,
  isBusy,
  submitLabel,
  isDanger = false,
  onCancel,
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const problem = fieldProblemOf(error);
  const isBesideField = problem !== null && hasTextField(form.current, problem.field);
  return (
    <Base
      ref={form}
      className="form"
      errors={isBesideField ? { [problem.field]: problem.problem } : {}}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) onSubmit(readForm(event.currentTarget));
      }}
    >
      {children}
      {!isBesideField && <ErrorMessage error={error} />}
      <footer>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" variant={isDanger ? "danger" : "primary"} isBusy={isBusy}>
          {submitLabel}
        </Button>
      </footer>
    </Base>
  );
}

/** True for a field that can show what is wrong with it. */
function hasTextField(form: HTMLFormElement | null, name: string): boolean {
  const field = form?.elements.namedItem(name);
  return (
    (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) &&
    field.classList.contains("input")
  );
}

const readForm = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
