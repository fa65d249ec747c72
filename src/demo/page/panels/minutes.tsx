/** The minutes: a document that all visitors write together. */
import { useDocument } from "atrium/documents/react";
import { useCallback } from "react";
import { useTyping, useTypists } from "../room/participants.ts";
import { bindTextArea } from "./text-area.ts";

export function Minutes() {
  const { provider, hasUnsyncedChanges } = useDocument("minutes");
  const typing = useTyping("minutes");
  const typists = useTypists("minutes");
  const bind = useCallback(
    (area: HTMLTextAreaElement) => bindTextArea(area, provider.doc.getText("text")),
    [provider],
  );
  return (
    <aside aria-label="Minutes">
      <details className="minutes">
        <summary>Minutes</summary>
        <textarea
          ref={bind}
          aria-label="Minutes"
          placeholder="Write together"
          onInput={typing.typed}
          onBlur={typing.ended}
        />
        <p>{typists || (hasUnsyncedChanges ? "Saving …" : "Saved")}</p>
      </details>
    </aside>
  );
}
