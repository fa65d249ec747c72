/** The steps of an action on several rows: the question, how far it is, and what it has done. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useState } from "react";
import type { Outcome } from "../data/act-on-several.ts";
import type { BulkAction } from "./bulk-action.ts";
import { Button } from "./button.tsx";
import { countOf, type Noun, namesOf } from "./noun.ts";
import { TextField } from "./text-field.tsx";

/** What is done, to what. */
export interface Deed<Item> {
  readonly action: BulkAction<Item>;
  readonly noun: Noun;
  readonly nameOf: (item: Item) => string;
}

/** The button that had the focus is gone with what the dialog showed before. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

interface QuestionProps<Item> extends Deed<Item> {
  readonly items: readonly Item[];
  readonly run: (items: readonly Item[]) => Promise<void>;
}

export function Question<Item>({ action, items, noun, nameOf, run }: QuestionProps<Item>) {
  const [text, setText] = useState("");
  const count = countOf(items.length, noun);
  return (
    <>
      <AlertDialog.Title>
        {action.label} {count}?
      </AlertDialog.Title>
      <AlertDialog.Description className="soft" render={<div />}>
        <p className="names">{namesOf(items.map(nameOf))}</p>
        <p>{action.consequences}</p>
      </AlertDialog.Description>
      {action.isTyped && (
        <TextField
          label={`Type “${count}” to confirm`}
          name="confirm"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <footer>
        <AlertDialog.Close className="button plain">Cancel</AlertDialog.Close>
        <Button
          variant={action.isDanger ? "danger" : "primary"}
          disabled={action.isTyped === true && text !== count}
          onClick={() => void run(items)}
        >
          {action.label} {count}
        </Button>
      </footer>
    </>
  );
}

interface RunningProps {
  readonly action: Pick<BulkAction<never>, "label">;
  readonly noun: Noun;
  readonly ended: number;
  readonly total: number;
  readonly stop: AbortController;
}

export function Running({ action, noun, ended, total, stop }: RunningProps) {
  const [isStopping, setStopping] = useState(false);
  return (
    <>
      <AlertDialog.Title>
        {action.label} {countOf(total, noun)}
      </AlertDialog.Title>
      <progress className="progress" value={ended} max={total} aria-label={`${action.label} ${noun.many}`} />
      <p className="soft" role="status">
        {isStopping ? "Stopping …" : `${ended} of ${total}`}
      </p>
      <footer>
        <Button
          ref={focus}
          isBusy={isStopping}
          onClick={() => {
            stop.abort();
            setStopping(true);
          }}
        >
          Stop
        </Button>
      </footer>
    </>
  );
}

interface ResultProps<Item> extends Deed<Item> {
  readonly outcome: Outcome<Item>;
  readonly run: (items: readonly Item[]) => Promise<void>;
}

export function Result<Item>({ action, noun, nameOf, outcome, run }: ResultProps<Item>) {
  const { done, refused, left } = outcome;
  const again = [...refused.map(({ item }) => item), ...left];
  return (
    <>
      <AlertDialog.Title>
        {done.length === 0 ? `No ${noun.one} ${action.done}` : `${countOf(done.length, noun)} ${action.done}`}
      </AlertDialog.Title>
      <AlertDialog.Description className="soft" render={<div />}>
        {refused.length > 0 && <p>{countOf(refused.length, noun)} could not be:</p>}
        <ul className="refused">
          {refused.map(({ item, error }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and names can be equal
            <li key={index}>
              <strong>{nameOf(item)}</strong>
              <span>{error.message}</span>
            </li>
          ))}
        </ul>
        {left.length > 0 && <p>{countOf(left.length, noun)} left as before.</p>}
      </AlertDialog.Description>
      <footer>
        <AlertDialog.Close ref={focus} className="button plain">
          Close
        </AlertDialog.Close>
        <Button variant="primary" onClick={() => void run(again)}>
          Try {again.length === 1 ? "it" : `these ${again.length}`} again
        </Button>
      </footer>
    </>
  );
}
