/** The dialog of an action on several rows: asks, runs, and shows what came of it. */
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Toast } from "@base-ui/react/toast";
import { useState } from "react";
import type { Outcome } from "../data/act-on-several.ts";
import { countOf } from "./noun.ts";
import { type Deed, Question, Result, Running } from "./several-steps.tsx";

export interface SeveralProps<Item> extends Deed<Item> {
  readonly items: readonly Item[];
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

/** The button that opened the dialog is gone with the rows that it was about. */
const firstBox = (): HTMLElement | null => document.querySelector<HTMLElement>("main .select-box");
