/**
 * The checkboxes that select rows of a list. With Shift, a click or the arrow keys select all rows in between; Ctrl+A
 * selects all, Escape none.
 */
import type { KeyboardEvent } from "react";
import type { Selection } from "../data/use-selection.ts";

export interface SelectBoxProps {
  readonly selection: Selection<unknown>;
  readonly id: string;
  /** What is selected, such as the name of a user. */
  readonly name: string;
}

const ROWS = "input[data-row]";

export function SelectBox({ selection, id, name }: SelectBoxProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key, currentTarget, shiftKey } = event;
    if (key === "Escape") selection.clear();
    else if (key === "a" && (event.ctrlKey || event.metaKey)) selection.toggleAll();
    else if (key === "ArrowDown" || key === "ArrowUp") {
      const next = neighbourOf(currentTarget, key === "ArrowDown" ? 1 : -1);
      if (shiftKey && !selection.has(id)) selection.toggle(id, false);
      if (shiftKey && next?.checked === false) selection.toggle(next.value, false);
      next?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    <input
      type="checkbox"
      className="select-box"
      data-row=""
      value={id}
      aria-label={`Select ${name}`}
      checked={selection.has(id)}
      onClick={({ shiftKey }) => selection.toggle(id, shiftKey)}
      // The click says whether Shift is pressed.
      onChange={() => undefined}
      onKeyDown={onKeyDown}
    />
  );
}

/** The box of the next row in a direction. */
function neighbourOf(box: HTMLInputElement, step: number): HTMLInputElement | undefined {
  const all = [...(box.closest("[data-selection]")?.querySelectorAll<HTMLInputElement>(ROWS) ?? [])];
  return all[all.indexOf(box) + step];
}

const SelectAll = ({ selection }: { readonly selection: Selection<unknown> }) => (
  <input
    type="checkbox"
    className="select-box"
    aria-label="Select all on this page"
    checked={selection.all === "all"}
    ref={(box) => {
      if (box !== null) box.indeterminate = selection.all === "some";
    }}
    onChange={selection.toggleAll}
  />
);

/** Above a list that has no header. */
export const SelectAllRow = ({ selection }: { readonly selection: Selection<unknown> }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a control
  <label className="select-all soft">
    <SelectAll selection={selection} /> Select all on this page
  </label>
);

export const SelectAllCell = ({ selection }: { readonly selection: Selection<unknown> }) => (
  <th scope="col" className="select-cell">
    <SelectAll selection={selection} />
  </th>
);

/** The first cell of a row. */
export const SelectCell = (props: SelectBoxProps) => (
  <td className="select-cell">
    <SelectBox {...props} />
  </td>
);
