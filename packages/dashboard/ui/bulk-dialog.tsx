/** Actions on several rows of a list, and the dialog that asks, shows progress and names refused rows. */
import type { QueryKey } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { type ReactNode, useEffect, useState } from "react";
import { actOnSeveral, type Outcome, type Progress, toError } from "../data/act-on-several.ts";
import { isUnreachable, noteResult } from "../data/connection.ts";
import { useConfirmation } from "../data/organization.tsx";
import { Button } from "./button.tsx";
import { Confirmation, Modal } from "./dialog.tsx";

/** A list's items in words. */
export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** Such as "1 user" or "12 users". */
export const countOf = (count: number, { one, many }: Noun): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const MAX_NAMED = 5;

/** Such as "Ada, Bo and 3 more". */
function namesOf(names: readonly string[]): string {
  const shown = names.length <= MAX_NAMED ? names : names.slice(0, MAX_NAMED - 1);
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
  readonly consequences: ReactNode;
  /** The rows for this action; all if it is missing. */
  readonly applies?: (item: Item) => boolean;
  readonly isDanger?: boolean;
  /** True where the person types the number of rows first. */
  readonly isTyped?: boolean;
  readonly run: (items: readonly Item[], progress: Progress) => Promise<Outcome<Item>>;
  /** The request that takes it back for one of them; none where it cannot be taken back. */
  readonly undo?: (item: Item) => Promise<unknown>;
}

/** Notes how a request ended: true for an error that every other row would get too. */
function endsAll(error: Error | null): boolean {
  noteResult(error);
  return isUnreachable(error) || (error instanceof AtriumError && error.code === "UNAUTHORIZED");
}

/** Makes a request for each row. */
export const oneByOne =
  <Item,>(request: (item: Item) => Promise<unknown>): BulkAction<Item>["run"] =>
  (items, progress) =>
    actOnSeveral(items, request, endsAll, progress);

/** Makes one request for all rows; it returns the errors of refused ones. */
export const allAtOnce =
  <Item,>(request: (items: readonly Item[]) => Promise<ReadonlyMap<Item, Error>>): BulkAction<Item>["run"] =>
  async (items) => {
    const result = await request(items).catch(toError);
    const failure = result instanceof Error ? result : null;
    noteResult(failure);
    const errors = result instanceof Error ? new Map(items.map((item) => [item, result])) : result;
    return {
      done: items.filter((item) => !errors.has(item)),
      refused: [...errors].map(([item, error]) => ({ item, error })),
      left: [],
    };
  };

/** The button that had the focus is gone with the dialog's earlier content. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

interface BulkDialogProps<Item> {
  readonly action: BulkAction<Item>;
  readonly items: readonly Item[];
  readonly noun: Noun;
  readonly nameOf: (item: Item) => string;
  readonly refreshes: readonly QueryKey[];
  readonly onEnd: (outcome: Outcome<Item>) => void;
  readonly onClose: () => void;
}

type State<Item> =
  | { readonly is: "asking" }
  | { readonly is: "running"; readonly ended: number; readonly stop: AbortController }
  | { readonly is: "over"; readonly outcome: Outcome<Item> };

export function BulkDialog<Item>(props: BulkDialogProps<Item>) {
  const { action, noun, nameOf, refreshes, onEnd, onClose } = props;
  const [items, setItems] = useState(props.items);
  const [state, setState] = useState<State<Item>>({ is: "asking" });
  const { refresh, confirm } = useConfirmation(refreshes);
  const count = countOf(items.length, noun);

  const run = async (concerned: readonly Item[]) => {
    const stop = new AbortController();
    setItems(concerned);
    setState({ is: "running", ended: 0, stop });
    const onProgress = (ended: number) => setState({ is: "running", ended, stop });
    const outcome = await action.run(concerned, { onProgress, signal: stop.signal });
    onEnd(outcome);
    void refresh();
    if (outcome.done.length === concerned.length) {
      const { undo } = action;
      const title = `${countOf(concerned.length, noun)} ${action.done}`;
      confirm({ title }, undo && (() => Promise.all(concerned.map(undo))));
      onClose();
    } else setState({ is: "over", outcome });
  };

  useEffect(() => () => firstBox()?.focus(), []);

  switch (state.is) {
    case "asking":
      return (
        <Modal
          role="alertdialog"
          title={`${action.label} ${count}?`}
          about={
            <>
              <p className="names">{namesOf(items.map(nameOf))}</p>
              <p>{action.consequences}</p>
            </>
          }
          onClose={onClose}
        >
          <Confirmation
            label={`${action.label} ${count}`}
            typed={action.isTyped ? count : undefined}
            isDanger={action.isDanger}
            onConfirm={() => void run(items)}
            onCancel={onClose}
          />
        </Modal>
      );
    case "running":
      return (
        <Modal
          role="alertdialog"
          title={`${action.label} ${count}`}
          isClosedByEscape={false}
          onClose={onClose}
        >
          <Running {...state} total={items.length} label={`${action.label} ${noun.many}`} />
        </Modal>
      );
    case "over":
      return <Result {...{ action, noun, nameOf, run, onClose }} outcome={state.outcome} />;
  }
}

/** The button that opened the dialog is gone with the selection. */
const firstBox = (): HTMLElement | null =>
  document.querySelector<HTMLElement>("main [data-selection] .select-box");

interface RunningProps {
  readonly label: string;
  readonly ended: number;
  readonly total: number;
  readonly stop: AbortController;
}

function Running({ label, ended, total, stop }: RunningProps) {
  const [isStopping, setStopping] = useState(false);
  const onStop = () => {
    stop.abort();
    setStopping(true);
  };
  return (
    <>
      <progress className="progress" value={ended} max={total} aria-label={label} />
      <p className="soft" role="status">
        {isStopping ? "Stopping …" : `${ended} of ${total}`}
      </p>
      <footer>
        <Button ref={focus} isBusy={isStopping} onClick={onStop}>
          Stop
        </Button>
      </footer>
    </>
  );
}

interface ResultProps<Item> extends Pick<BulkDialogProps<Item>, "action" | "noun" | "nameOf" | "onClose"> {
  readonly outcome: Outcome<Item>;
  readonly run: (items: readonly Item[]) => Promise<void>;
}

function Result<Item>({ action, noun, nameOf, outcome, run, onClose }: ResultProps<Item>) {
  const { done, refused, left } = outcome;
  const again = [...refused.map(({ item }) => item), ...left];
  return (
    <Modal
      role="alertdialog"
      title={
        done.length === 0 ? `No ${noun.one} ${action.done}` : `${countOf(done.length, noun)} ${action.done}`
      }
      about={
        <>
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
        </>
      }
      onClose={onClose}
    >
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" onClick={() => void run(again)}>
          Try {again.length === 1 ? "it" : `these ${again.length}`} again
        </Button>
      </footer>
    </Modal>
  );
}
