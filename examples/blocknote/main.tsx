/** Edits a document of the room in BlockNote, over y-websocket. */
import "@blocknote/mantine/style.css";
import { BlockNoteView } from "@blocknote/mantine";
import { useCreateBlockNote } from "@blocknote/react";
import { createRoot } from "react-dom/client";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { enter, find, OFFLINE, type Person, say, showPeople } from "./page.ts";

function Page({ doc, provider, user }: { doc: Y.Doc; provider: WebsocketProvider; user: Person }) {
  const fragment = doc.getXmlFragment("blocks");
  const editor = useCreateBlockNote({ collaboration: { provider, fragment, user } });
  return <BlockNoteView editor={editor} />;
}

try {
  const { documents, token, user } = await enter();
  const doc = new Y.Doc();
  const protocols = ["atrium", token]; // unlike the address, these are in no log
  const provider = new WebsocketProvider(documents, "blocks/sync", doc, { protocols });

  showPeople(provider.awareness);
  provider.on("sync", (isSynced: boolean) => say(isSynced ? "Connected" : OFFLINE));
  provider.on("connection-close", () => say(OFFLINE));
  createRoot(find("main")).render(<Page doc={doc} provider={provider} user={user} />);
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
