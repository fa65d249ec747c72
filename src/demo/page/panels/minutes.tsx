/** The minutes: a document beside the board, which all visitors write together, and its versions. */
import type { EditorState } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";
import { useDocument } from "atrium/documents/react";
import { type Member, useDocumentVersions, useSelf } from "atrium/react";
import { VersionHistory } from "atrium/react-ui";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useMayWrite, useTyping } from "../room/participants.ts";
import { ACTIONS, namesOfWriters, openEditor, readPerson } from "./editor.ts";
import Side from "./side.tsx";

function sayWriters(names: readonly string[]): string {
  if (names.length === 0) return "Everyone on this board writes here";
  return names.length === 1 ? `${names[0]} is writing` : `${names.length} people writing`;
}

const personOf = ({ user, presence }: Member) => readPerson({ ...presence, name: user.name });

const VERSIONS_ICON = "M4 10a6 6 0 1 1 2 4.5M3 7l1 3 3-1M10 7v3.5l2.5 1.5";

export default function Minutes({ close }: { readonly close: () => void }) {
  const { provider, synced, hasUnsyncedChanges } = useDocument("minutes");
  const { awareness, doc } = provider;
  const person = useSelf(personOf);
  const typing = useTyping("minutes");
  const latestTyping = useRef(typing);
  latestTyping.current = typing;
  const view = useRef<EditorView>(null);
  const mayWrite = useMayWrite("documents");
  const isEditable = useRef(mayWrite);
  const [state, setState] = useState<EditorState | null>(null);
  const [areVersionsShown, setVersionsShown] = useState(false);
  const bind = useCallback(
    (element: HTMLDivElement) => {
      const fragment = doc.getXmlFragment("minutes");
      const opened = openEditor(element, {
        fragment,
        awareness,
        isEditable: () => isEditable.current,
        changed: setState,
        typed: () => latestTyping.current.typed(),
        left: () => latestTyping.current.ended(),
      });
      view.current = opened;
      opened.focus();
      return () => {
        view.current = null;
        opened.destroy();
      };
    },
    [doc, awareness],
  );
  useEffect(() => {
    isEditable.current = mayWrite;
    view.current?.setProps({}); // the editor asks again
  }, [mayWrite]);
  useEffect(() => {
    awareness.setLocalState({ ...awareness.getLocalState(), user: person });
  }, [awareness, person]);
  useEffect(() => () => awareness.setLocalState(null), [awareness]);
  const watch = useCallback(
    (changed: () => void) => {
      awareness.on("change", changed);
      return () => awareness.off("change", changed);
    },
    [awareness],
  );
  const writers = useSyncExternalStore(watch, () => sayWriters(namesOfWriters(awareness)));
  return (
    <Side title="Minutes" close={close}>
      <div className="format" role="toolbar" aria-label="Format">
        {mayWrite &&
          !areVersionsShown &&
          ACTIONS.map(({ label, icon, command, isOn }) => (
            <button
              key={label}
              type="button"
              title={label}
              aria-label={label}
              aria-pressed={state !== null && isOn(state)}
              onMouseDown={(event) => event.preventDefault()} // the text keeps its selection
              onClick={() => {
                const { current } = view;
                if (current === null) return;
                command(current.state, current.dispatch);
                current.focus();
              }}
            >
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={icon} />
              </svg>
            </button>
          ))}
        <button
          type="button"
          className="last"
          title="Versions"
          aria-label="Versions"
          aria-pressed={areVersionsShown}
          onClick={() => setVersionsShown(!areVersionsShown)}
        >
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d={VERSIONS_ICON} />
          </svg>
        </button>
      </div>
      {areVersionsShown ? (
        <Versions by={mayWrite ? person : null} isSaved={!hasUnsyncedChanges} />
      ) : synced || state !== null ? (
        <div className="text" ref={bind} />
      ) : (
        <p className="text">Loading…</p>
      )}
      <p className="side-foot">
        <span>{mayWrite ? writers : "You can only read the minutes"}</span>
        <span>{hasUnsyncedChanges ? "Saving…" : "Saved"}</span>
      </p>
    </Side>
  );
}

interface VersionsProps {
  /** The visitor who may save a version; null for one who can only read. */
  readonly by: { readonly name: string } | null;
  readonly isSaved: boolean;
}

/** The minutes as they were. The room makes versions by itself, and a visitor can save one at once. */
function Versions({ by, isSaved }: VersionsProps) {
  const [, { create }] = useDocumentVersions("minutes");
  return (
    <div className="side-body">
      {by && (
        <button
          type="button"
          className="primary"
          disabled={!isSaved}
          onClick={() => create(`Saved by ${by.name}`)}
        >
          Save this version
        </button>
      )}
      <VersionHistory document="minutes" type="xml" root="minutes" />
    </div>
  );
}
