/** Edits a document of the room in Lexical, whose binding connects to it with y-websocket. */
import { LexicalCollaboration } from "@lexical/react/LexicalCollaborationContext";
import { CollaborationPlugin } from "@lexical/react/LexicalCollaborationPlugin";
import { LexicalComposer } from "@lexical/react/LexicalComposer";
import { ContentEditable } from "@lexical/react/LexicalContentEditable";
import { LexicalErrorBoundary } from "@lexical/react/LexicalErrorBoundary";
import { RichTextPlugin } from "@lexical/react/LexicalRichTextPlugin";
import type { Provider } from "@lexical/yjs";
import { createRoot } from "react-dom/client";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { enter, find, OFFLINE, say, showPeople } from "./page.ts";

const HINT = "Write something, and open this page in a second window";

try {
  const { documents, token, user } = await enter();

  /** Lexical asks for a document by its id, and connects it itself. */
  const open = (id: string, docs: Map<string, Y.Doc>): Provider => {
    const doc = docs.get(id) ?? new Y.Doc();
    docs.set(id, doc);
    const protocols = ["atrium", token]; // unlike the address, these are in no log
    const provider = new WebsocketProvider(documents, `${id}/sync`, doc, { protocols, connect: false });
    showPeople(provider.awareness);
    provider.on("sync", (isSynced: boolean) => say(isSynced ? "Connected" : OFFLINE));
    provider.on("connection-close", () => say(OFFLINE));
    return provider as Provider & WebsocketProvider; // Lexical describes awareness by what it writes there
  };

  createRoot(find("main")).render(
    <LexicalCollaboration>
      <LexicalComposer
        initialConfig={{
          namespace: "page",
          editorState: null, // the document's content, which is the room's
          onError: (error) => say(`The editor has failed: ${error.message}`),
          theme: { text: { underline: "underline", strikethrough: "strikethrough" } },
        }}
      >
        <RichTextPlugin
          contentEditable={
            <ContentEditable
              aria-placeholder={HINT}
              placeholder={<p id="hint">{HINT}</p>}
              aria-label="Page"
            />
          }
          ErrorBoundary={LexicalErrorBoundary}
        />
        <CollaborationPlugin
          id="page"
          providerFactory={open}
          shouldBootstrap={false} // two windows would write the first paragraph twice
          username={user.name}
          cursorColor={user.color}
        />
      </LexicalComposer>
    </LexicalCollaboration>,
  );
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
