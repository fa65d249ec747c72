/** Forms, which show a problem beside its field, and buttons whose dialog has one. */
import { AtriumError } from "atrium/server";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type FieldProblem, readRefusal } from "../data/messages.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorMessage } from "./feedback.tsx";
import { FieldProblems } from "./fields.tsx";

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
  /** True while something is missing that the form says. */
  readonly isIncomplete?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ReactNode;
}

/** The field that a refusal concerns, and its problem; null for another error. */
const fieldProblemOf = (error: Error | null): FieldProblem | null =>
  error instanceof AtriumError && error.code !== "INTERNAL_ERROR" ? readRefusal(error.message) : null;

export function Form<Input>(props: FormProps<Input>) {
  const { action, toInput, submitLabel, isDanger = false, isIncomplete = false, onCancel, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Values>({});
  const refusal = fieldProblemOf(action.error);
  const isBesideField = refusal !== null && fieldOf(form.current, refusal.field) !== null;
  useEffect(() => {
    const refused = fieldProblemOf(action.error);
    const field = refused && fieldOf(form.current, refused.field);
    if (refused === null || !field) return;
    setProblems({ [refused.field]: refused.problem });
    field.focus();
  }, [action.error]);
  return (
    <form
      ref={form}
      className="form"
      noValidate
      onInput={({ target }) => {
        if (isField(target)) setProblems(({ [target.name]: _, ...others }) => others);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        const elements: readonly unknown[] = [...event.currentTarget.elements];
        const fields = elements.filter(isField);
        for (const field of fields)
          field.setCustomValidity(isBlank(field) ? (field.dataset.missing ?? "Fill out this field.") : "");
        const invalid = fields.filter((field) => !field.checkValidity());
        setProblems(
          Object.fromEntries(invalid.map(({ name, validationMessage }) => [name, validationMessage])),
        );
        invalid[0]?.focus();
        if (invalid.length > 0 || action.isPending) return;
        const input = toInput(readForm(event.currentTarget));
        if (input !== undefined) action.mutate(input);
      }}
    >
      <FieldProblems value={problems}>{children}</FieldProblems>
      {!isBesideField && <ErrorMessage error={action.error} />}
      <footer>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button
          type="submit"
          variant={isDanger ? "danger" : "primary"}
          disabled={isIncomplete}
          isBusy={action.isPending}
        >
          {submitLabel}
        </Button>
      </footer>
    </form>
  );
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** True for a field that can show a problem. */
const isField = (one: unknown): one is Field =>
  [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement].some((kind) => one instanceof kind) &&
  (one as Field).classList.contains("input");

/** The browser takes spaces for a value. */
const isBlank = ({ required, value }: { readonly required: boolean; readonly value: string }): boolean =>
  required && value.trim() === "";

function fieldOf(form: HTMLFormElement | null, name: string) {
  const field = form?.elements.namedItem(name);
  return isField(field) ? field : null;
}

const readForm = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

/** The key of a form, which shows the `saved` values anew after an Undo. */
export function useUndone(saved: string) {
  const [undone, setUndone] = useState(0);
  return { key: undone === 0 ? "first" : saved, count: () => setUndone((count) => count + 1) };
}

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
