/** Forms, which show a problem beside its field, and buttons whose dialog has one. */
import { Form as BaseForm } from "@base-ui/react/form";
import { AtriumError } from "atrium/server";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type FieldProblem, readRefusal } from "../data/messages.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorMessage } from "./feedback.tsx";

export type Values = Readonly<Record<string, string>>;

export interface FormProps<Input> {
  readonly action: {
    mutate(input: Input): void;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  /** The action's input from the text of the fields; undefined to do nothing. */
  readonly toInput: (values: Values) => Input | undefined;
  readonly submitLabel: string;
  /** True for an action that cannot be undone. */
  readonly isDanger?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

/** The field that a refusal concerns, and its problem; null for another error. */
const fieldProblemOf = (error: Error | null): FieldProblem | null =>
  error instanceof AtriumError && error.code !== "INTERNAL_ERROR" ? readRefusal(error.message) : null;

export function Form<Input>(props: FormProps<Input>) {
  const { action, toInput, submitLabel, isDanger = false, onCancel, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const problem = fieldProblemOf(action.error);
  const isBesideField = problem !== null && hasTextField(form.current, problem.field);
  return (
    <BaseForm
      ref={form}
      className="form"
      errors={isBesideField ? { [problem.field]: problem.problem } : {}}
      onSubmit={(event) => {
        event.preventDefault();
        const input = action.isPending ? undefined : toInput(readForm(event.currentTarget));
        if (input !== undefined) action.mutate(input);
      }}
    >
      {children}
      {!isBesideField && <ErrorMessage error={action.error} />}
      <footer>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" variant={isDanger ? "danger" : "primary"} isBusy={action.isPending}>
          {submitLabel}
        </Button>
      </footer>
    </BaseForm>
  );
}

/** True for a field that can show a problem. */
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

export interface FormDialogProps<Input> extends Omit<FormProps<Input>, "onCancel" | "isDanger"> {
  /** The button that opens the dialog. */
  readonly button: ButtonProps & { readonly "data-shortcut"?: "new" };
  readonly title: string;
  /** A description in one sentence. */
  readonly about?: string;
  readonly action: FormProps<Input>["action"] & { readonly isSuccess: boolean; reset(): void };
}

/** A button whose dialog has a form; it closes after success. */
export function FormDialog<Input>({ button, title, about, ...form }: FormDialogProps<Input>) {
  const { isSuccess, reset } = form.action;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isSuccess) setOpen(false);
  }, [isSuccess]);
  const switchTo = (next: boolean) => {
    reset();
    setOpen(next);
  };
  return (
    <>
      <Button {...button} onClick={() => switchTo(true)} />
      <Dialog {...{ title, about }} isOpen={isOpen && !isSuccess} onClose={() => switchTo(false)}>
        <Form {...form} onCancel={() => switchTo(false)} />
      </Dialog>
    </>
  );
}
