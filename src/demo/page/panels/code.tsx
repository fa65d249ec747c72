/** The few lines of code behind what one sees on the board. */
import { useRef, useState } from "react";
import { SNIPPETS } from "./snippets.ts";

export function Code() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [shown, setShown] = useState(SNIPPETS[0]);
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Show the code
      </button>
      <dialog ref={dialog} className="code" aria-label="The code behind the board">
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
    </>
  );
}
