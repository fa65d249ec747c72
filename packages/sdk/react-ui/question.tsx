/** A question before an action that cannot be taken back. */
import { type ReactNode, useId } from "react";
import { type Attempts, Failure } from "./room.tsx";
import { useTexts } from "./texts.ts";

interface QuestionProps extends Pick<Attempts, "isBusy" | "error"> {
  readonly children: string;
  /** The button that acts. */
  readonly answer: string;
  act(): void;
  cancel(): void;
}

export function Question({ children, answer, isBusy, error, act, cancel }: QuestionProps): ReactNode {
  const texts = useTexts();
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would look like one
    <div role="group" aria-labelledby={id} className="atrium-bar">
      <span id={id}>{children}</span>
      <button
        type="button"
        className="atrium-danger"
        disabled={isBusy}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
        autoFocus
        onClick={act}
      >
        {answer}
      </button>
      <button type="button" onClick={cancel}>
        {texts.cancel}
      </button>
      <Failure error={error} />
    </div>
  );
}
