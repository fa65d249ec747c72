/** Edits a document of the room in Tiptap, whose own client connects to it, or suggests changes of it. */
import { HocuspocusProvider } from "@hocuspocus/provider";
import { Editor } from "@tiptap/core";
import { Collaboration } from "@tiptap/extension-collaboration";
import { CollaborationCaret } from "@tiptap/extension-collaboration-caret";
import { StarterKit } from "@tiptap/starter-kit";
import { AtriumClient } from "atrium/client";
import { openSuggestions } from "atrium/documents";
import * as Y from "yjs";
import { enter, find, OFFLINE, say, showPeople } from "./page.ts";
import { showSuggestions } from "./suggestions.ts";

const ARTICLE = "article";

try {
  const { serverUrl, documents, token, user } = await enter();
  const client = new AtriumClient({ serverUrl, authToken: token });
  await client.join();

  /** Opens the editor on a document, or on the fork of a suggestion. */
  const open = (name: string) => {
    const doc = new Y.Doc();
    const provider = new HocuspocusProvider({ url: documents, name, document: doc, token });
    if (provider.awareness) showPeople(provider.awareness);
    const report = () => {
      if (!provider.isSynced) say(OFFLINE);
      else say(provider.hasUnsyncedChanges ? "Saving…" : "All changes are saved");
    };
    for (const event of ["synced", "unsyncedChanges", "disconnect"]) provider.on(event, report);
    provider.on("authenticationFailed", ({ reason }: { reason: string }) => say(reason));

    const editor = new Editor({
      element: find("main"),
      editable: name !== ARTICLE || client.canWrite("documents"),
      editorProps: { attributes: { "aria-label": "Article" } },
      extensions: [
        StarterKit.configure({ undoRedo: false }), // the one of Collaboration undoes this user's changes only
        Collaboration.configure({ document: doc }),
        CollaborationCaret.configure({ provider, user }),
      ],
    });
    return {
      isSaved: () => !provider.hasUnsyncedChanges,
      close: () => {
        editor.destroy();
        provider.destroy();
      },
    };
  };

  let opened = open(ARTICLE);
  const suggestions = openSuggestions(client, ARTICLE);
  await showSuggestions(client, suggestions, {
    show: (fork) => {
      opened.close();
      opened = open(fork ?? ARTICLE);
    },
    isSaved: () => opened.isSaved(),
    title: `Changes by ${user.name}`,
  });
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
