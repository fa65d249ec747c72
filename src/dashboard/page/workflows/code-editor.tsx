/**
 * The code editor: highlighting, completion of the bindings with their types, and compile errors at their line.
 * It lives in a shadow root, so that its styles need no exception from the Content-Security-Policy.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, javascriptLanguage } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { completeBindings, explainBinding } from "./binding-completion.ts";
import { codeTheme } from "./code-theme.ts";
import type { Problem } from "./problem.ts";

export interface CodeEditorProps {
  readonly initial: string;
  readonly problem: Problem | null;
  readonly onChange: (code: string) => void;
  readonly onSave: () => void;
}

export default function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open", delegatesFocus: true });
    const view = new EditorView({ parent: root, root, state: open(latest) });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    if (editor.current !== null) showProblem(editor.current, props.problem);
  }, [props.problem]);
  return (
    <>
      <div ref={host} className="code-host" />
      <p className="soft small">
        Ctrl+S to save. Ctrl+Space for suggestions. Escape, then Tab, to leave the editor.
      </p>
    </>
  );
}

const open = (latest: { readonly current: CodeEditorProps }): EditorState =>
  EditorState.create({
    doc: latest.current.initial,
    extensions: [
      lineNumbers(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion(),
      javascript({ typescript: true }),
      javascriptLanguage.data.of({ autocomplete: completeBindings }),
      hoverTooltip(explainBinding),
      lintGutter(),
      codeTheme,
      EditorView.contentAttributes.of({ "aria-label": "Code of the workflow", tabindex: "0" }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) latest.current.onChange(state.doc.toString());
      }),
      keymap.of([
        {
          key: "Mod-s",
          run: () => {
            latest.current.onSave();
            return true;
          },
        },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...completionKeymap,
        indentWithTab,
      ]),
    ],
  });

function showProblem(view: EditorView, problem: Problem | null): void {
  const { doc } = view.state;
  if (problem === null) {
    view.dispatch(setDiagnostics(view.state, []));
    return;
  }
  const line = doc.line(Math.min(Math.max(1, problem.line), doc.lines));
  const from = Math.min(line.from + problem.column - 1, line.to);
  const to = Math.max(from, line.to);
  const diagnostic = { from, to, severity: "error", message: problem.message } as const;
  view.dispatch(setDiagnostics(view.state, [diagnostic]), {
    selection: { anchor: from },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
}
