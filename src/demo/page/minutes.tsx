/** The minutes: a document that all visitors write together. */
import { useDocument } from "atrium/documents/react";
import { useCallback } from "react";
import { bindTextArea } from "./text-area.ts";

export function Minutes() {
  const { provider, hasUnsyncedChanges } = useDocument("minutes");
  const bind = useCallback(
    (area: HTMLTextAreaElement) => bindTextArea(area, provider.doc.getText("text")),
    [provider],
  );
  return (
    <details className="minutes">
      <summary>Minutes</summary>
      <textarea ref={bind} aria-label="Minutes" placeholder="Write together" />
      <p>{hasUnsyncedChanges ? "Saving …" : "Saved"}</p>
    </details>
  );
}
