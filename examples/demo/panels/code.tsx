/** The dialog with the few lines of code behind what one sees on the board. */
import { useCallback, useState } from "react";
import { SNIPPETS } from "./snippets.ts";

export default function Code({ close }: { close(): void }) {
  const open = useCallback((dialog: HTMLDialogElement | null) => dialog?.showModal(), []);
  const [shown, setShown] = useState(SNIPPETS[0]);
  return (
    <dialog ref={open} className="code" aria-label="The code behind the board" onClose={close}>
      <form method="dialog">
        <h2>This is all it takes</h2>
        <button type="submit" aria-label="Close">
          ×
        </button>
      </form>
      <div className="topics">
        {SNIPPETS.map((snippet) => (
          <button
            key={snippet.title}
            type="button"
            aria-pressed={snippet === shown}
            onClick={() => setShown(snippet)}
          >
            {snippet.title}
          </button>
        ))}
      </div>
      <textarea readOnly spellCheck={false} aria-label="Code" value={shown?.code} />
      <p>
        <a href="/docs">The documentation</a> has the rest.
      </p>
    </dialog>
  );
}
