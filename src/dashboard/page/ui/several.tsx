/** Asks once before it acts on several rows, shows how far it is, and says what failed and why. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Toast } from "@base-ui/react/toast";
import { useState } from "react";
import type { Outcome } from "../data/act-on-several.ts";
import type { BulkAction } from "./bulk-action.ts";
import { Button } from "./button.tsx";
import { countOf, type Noun, namesOf } from "./noun.ts";
import { TextField } from "./text-field.tsx";

export interface SeveralProps<Item> {
  readonly action: BulkAction<Item>;
  readonly items: readonly Item[];
  readonly noun: Noun;
  readonly nameOf: (item: Item) => string;
  readonly onEnd: (outcome: Outcome<Item>) => void;
  readonly onClose: () => void;
}

type State<Item> =
  | { readonly is: "asking" }
  | { readonly is: "running"; readonly ended: number; readonly stop: AbortController }
  | { readonly is: "over"; readonly outcome: Outcome<Item> };

export function Several<Item>(props: SeveralProps<Item>) {
  const { action, noun, nameOf, onEnd, onClose } = props;
  const [items, setItems] = useState(props.items);
  const [state, setState] = useState<State<Item>>({ is: "asking" });
  const notices = Toast.useToastManager();

  const run = async (concerned: readonly Item[]) => {
    const stop = new AbortController();
    setItems(concerned);
    setState({ is: "running", ended: 0, stop });
    const onProgress = (ended: number) => setState({ is: "running", ended, stop });
    const outcome = await action.run(concerned, { onProgress, signal: stop.signal });
    onEnd(outcome);
    if (outcome.done.length === concerned.length) {
      notices.add({ title: `${countOf(concerned.length, noun)} ${action.done}` });
      onClose();
    } else setState({ is: "over", outcome });
  };

  return (
    <AlertDialog.Root open onOpenChange={(next) => !next && state.is !== "running" && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" finalFocus={firstBox}>
          {state.is === "asking" && <Question {...{ action, items, noun, nameOf, run }} />}
          {state.is === "running" && <Running {...{ action, noun, ...state }} total={items.length} />}
          {state.is === "over" && <Result {...{ action, noun, nameOf, run }} outcome={state.outcome} />}
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The button that had the focus is gone with what the dialog showed before. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

/** The button that opened the dialog is gone with the rows that it was about. */
const firstBox = (): HTMLElement | null => document.querySelector<HTMLElement>("main .select-box");

interface QuestionProps<Item> extends Pick<SeveralProps<Item>, "action" | "items" | "noun" | "nameOf"> {
  readonly run: (items: readonly Item[]) => Promise<void>;
}

function Question<Item>({ action, items, noun, nameOf, run }: QuestionProps<Item>) {
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

function Running({ action, noun, ended, total, stop }: RunningProps) {
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

interface ResultProps<Item> extends Pick<SeveralProps<Item>, "action" | "noun" | "nameOf"> {
  readonly outcome: Outcome<Item>;
  readonly run: (items: readonly Item[]) => Promise<void>;
}

function Result<Item>({ action, noun, nameOf, outcome, run }: ResultProps<Item>) {
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
