/** The minutes: a document that all visitors write together. */

import { useDocument } from "atrium/documents/react";
import { useCallback } from "react";
import type * as Y from "yjs";
import { useTyping, useTypists } from "../room/participants.ts";

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

/** Keeps both equal until the function that it returns is called. */
function bindTextArea(area: HTMLTextAreaElement, text: Y.Text): () => void {
  const show = ({ delta }: Pick<Y.YTextEvent, "delta">, { origin }: Y.Transaction) => {
    if (origin === area) return;
    const caret = [area.selectionStart, area.selectionEnd].map((at) => moved(at, delta));
    area.value = text.toString();
    if (document.activeElement === area) area.setSelectionRange(caret[0] ?? 0, caret[1] ?? 0);
  };
  const write = () => {
    const { start, removed, inserted } = difference(text.toString(), area.value);
    text.doc?.transact(() => {
      text.delete(start, removed);
      text.insert(start, inserted);
    }, area);
  };
  area.value = text.toString();
  text.observe(show);
  area.addEventListener("input", write);
  return () => {
    text.unobserve(show);
    area.removeEventListener("input", write);
  };
}

/** The position after a change. */
function moved(position: number, delta: Y.YTextEvent["delta"]): number {
  let at = 0;
  let result = position;
  for (const { retain = 0, insert = "", delete: removed = 0 } of delta) {
    at += retain;
    if (at >= result) break;
    const length = typeof insert === "string" ? insert.length : 1;
    result += length - Math.min(removed, result - at);
    at += length;
  }
  return result;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** The one change that makes `after` of `before`. It splits no character. */
function difference(before: string, after: string) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  if (start > 0 && isHighSurrogate(before.charCodeAt(start - 1))) start -= 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  if (end > 0 && isHighSurrogate(before.charCodeAt(before.length - end - 1))) end -= 1;
  return { start, removed: before.length - end - start, inserted: after.slice(start, after.length - end) };
}
