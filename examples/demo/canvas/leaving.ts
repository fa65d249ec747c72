/** Where the focus goes when items are removed that have it, or whose bar has it. */

/**
 * Moves the focus to the note after the first of these items, to the one before them, or to the board. `mayHold` is
 * false where a note that gets the focus, and is selected then, would surprise: the board gets it.
 */
export function leaveItems(ids: ReadonlySet<string>, mayHold: boolean): void {
  if (!document.activeElement?.closest(".note, .selection-bar")) return;
  const notes = [...document.querySelectorAll<HTMLElement>(".note")];
  const isLeft = ({ dataset }: HTMLElement) => ids.has(dataset.item ?? "");
  const first = mayHold ? notes.findIndex(isLeft) : -1;
  const next = notes.find((note, index) => index > first && !isLeft(note));
  const goal = first < 0 ? null : (next ?? notes.findLast((note) => !isLeft(note)));
  (goal ?? document.querySelector<HTMLElement>("main"))?.focus();
}
