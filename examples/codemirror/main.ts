/** Joins the room, and edits one of its documents in CodeMirror, over the connection that the client has anyway. */
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import { enter, find, OFFLINE, say, showPeople } from "./page.ts";

try {
  const { serverUrl, token, user } = await enter();
  const client = new AtriumClient({ serverUrl, authToken: token });
  const code = openDocument(client, "code");

  code.awareness.setLocalStateField("user", { ...user, colorLight: `${user.color}33` });
  showPeople(code.awareness);
  const report = () => {
    if (code.status !== "connected") say(OFFLINE);
    else say(code.hasUnsyncedChanges ? "Saving…" : "All changes are saved");
  };
  code.on("status", report);
  code.on("unsyncedChanges", report);

  await client.join();
  const text = code.doc.getText("code");
  new EditorView({
    parent: find("main"),
    doc: text.toString(), // what has arrived already
    extensions: [
      yCollab(text, code.awareness),
      keymap.of([...yUndoManagerKeymap, ...defaultKeymap, indentWithTab]),
      javascript(),
      syntaxHighlighting(classHighlighter),
      indentOnInput(),
      bracketMatching(),
      lineNumbers(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Code" }),
      placeholder("Write some JavaScript, and open this page in a second window"),
    ],
  });
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
