/** Edits a document of the room in Tiptap, whose own client connects to it. */
import { HocuspocusProvider } from "@hocuspocus/provider";
import { Editor } from "@tiptap/core";
import { Collaboration } from "@tiptap/extension-collaboration";
import { CollaborationCaret } from "@tiptap/extension-collaboration-caret";
import { StarterKit } from "@tiptap/starter-kit";
import * as Y from "yjs";
import { enter, find, OFFLINE, say, showPeople } from "./page.ts";

try {
  const { documents, token, user } = await enter();
  const doc = new Y.Doc();
  const provider = new HocuspocusProvider({ url: documents, name: "article", document: doc, token });

  if (provider.awareness) showPeople(provider.awareness);
  const report = () => {
    if (!provider.isSynced) say(OFFLINE);
    else say(provider.hasUnsyncedChanges ? "Saving…" : "All changes are saved");
  };
  for (const event of ["synced", "unsyncedChanges", "disconnect"]) provider.on(event, report);
  provider.on("authenticationFailed", ({ reason }: { reason: string }) => say(reason));

  new Editor({
    element: find("main"),
    editorProps: { attributes: { "aria-label": "Article" } },
    extensions: [
      StarterKit.configure({ undoRedo: false }), // the one of Collaboration undoes this user's changes only
      Collaboration.configure({ document: doc }),
      CollaborationCaret.configure({ provider, user }),
    ],
  });
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
