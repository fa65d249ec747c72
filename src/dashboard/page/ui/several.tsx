/** Actions on several selected rows: the bar, the steps and their report. */

import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Toast } from "@base-ui/react/toast";
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Outcome, Progress } from "../data/act-on-several.ts";
import type { Selection } from "../data/use-selection.ts";
import { Button } from "./button.tsx";
import { TextField } from "./fields.tsx";

/** What a list consists of, as a word. Pure. */
interface Noun {
  readonly one: string;
  readonly many: string;
}

/** Such as "1 user" or "12 users". */
const countOf = (count: number, { one, many }: Noun): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const NAMED = 5;

/** Such as "Ada, Bo and 3 more". */
function namesOf(names: readonly string[]): string {
  const shown = names.length <= NAMED ? names : names.slice(0, NAMED - 1);
  const more = names.length - shown.length;
  const all = more === 0 ? shown : [...shown, `${more} more`];
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

/** An action on several rows of a list. */
export interface BulkAction<Item> {
  /** Such as "Delete". */
  readonly label: string;
  /** The same when it has happened, such as "deleted". */
  readonly done: string;
  /** What will happen, for the confirmation. */
  readonly consequences: ReactNode;
  /** Which rows it concerns; all if it is missing. */
  readonly applies?: (item: Item) => boolean;
  readonly isDanger?: boolean;
  /** True where the person types how many there are first. */
  readonly isTyped?: boolean;
  readonly run: (items: readonly Item[], progress: Progress) => Promise<Outcome<Item>>;
}

/** What is done, to what. */
interface Deed<Item> {
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

interface ResultProps<Item> extends Deed<Item> {
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

/** The dialog of an action on several rows: asks, runs, and shows what came of it. */
interface SeveralProps<Item> extends Deed<Item> {
  readonly items: readonly Item[];
  readonly onEnd: (outcome: Outcome<Item>) => void;
  readonly onClose: () => void;
}

type State<Item> =
  | { readonly is: "asking" }
  | { readonly is: "running"; readonly ended: number; readonly stop: AbortController }
  | { readonly is: "over"; readonly outcome: Outcome<Item> };

function Several<Item>(props: SeveralProps<Item>) {
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

/** The button that opened the dialog is gone with the rows that it was about. */
const firstBox = (): HTMLElement | null => document.querySelector<HTMLElement>("main .select-box");

/** What can be done with the selected rows of a list: above the page's lower edge while any is selected. */
interface SelectionBarProps<Item> {
  readonly selection: Selection<Item>;
  readonly noun: Noun;
  readonly nameOf: (item: Item) => string;
  readonly actions: readonly BulkAction<Item>[];
  /** Prefixes of the query keys to refresh afterwards. */
  readonly invalidates: readonly QueryKey[];
}

/** What the person is asked about: it stays although the list changes. */
interface Asked<Item> {
  readonly action: BulkAction<Item>;
  readonly items: readonly Item[];
}

export function SelectionBar<Item>({
  selection,
  noun,
  nameOf,
  actions,
  invalidates,
}: SelectionBarProps<Item>) {
  const [asked, setAsked] = useState<Asked<Item> | null>(null);
  const queries = useQueryClient();
  const { items, clear } = selection;
  const refresh = () =>
    void Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return (
    <>
      {items.length > 0 && (
        <section className="selection-bar" aria-label="Selection">
          <span role="status">{countOf(items.length, noun)} selected</span>
          {actions.map((action) => {
            const concerned = action.applies ? items.filter(action.applies) : items;
            if (concerned.length === 0) return null;
            return (
              <Button
                key={action.label}
                className={action.isDanger ? "bad-text" : ""}
                aria-label={`${action.label} ${countOf(concerned.length, noun)}`}
                onClick={() => setAsked({ action, items: concerned })}
              >
                {action.label} {concerned.length}
              </Button>
            );
          })}
          <Button variant="quiet" icon="close" aria-label="Clear selection" onClick={clear} />
        </section>
      )}
      {asked && (
        <Several
          {...asked}
          noun={noun}
          nameOf={nameOf}
          onEnd={({ refused, left }) => {
            if (refused.length + left.length === 0) clear();
            refresh();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
