/** Edits a document of the room in BlockNote, over y-websocket, with comments on its text. */
import "@blocknote/mantine/style.css";
import { CommentsExtension } from "@blocknote/core/comments";
import { BlockNoteView } from "@blocknote/mantine";
import { useCreateBlockNote } from "@blocknote/react";
import { type AtriumThreadStore, openThreadStore } from "atrium/blocknote";
import { AtriumClient } from "atrium/client";
import { createRoot } from "react-dom/client";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { enter, find, OFFLINE, type Person, say, showPeople } from "./page.ts";

interface PageProps {
  readonly doc: Y.Doc;
  readonly provider: WebsocketProvider;
  readonly threadStore: AtriumThreadStore;
  readonly user: Person;
}

function Page({ doc, provider, threadStore, user }: PageProps) {
  const fragment = doc.getXmlFragment("blocks");
  const editor = useCreateBlockNote({
    collaboration: { provider, fragment, user },
    extensions: [CommentsExtension({ threadStore, resolveUsers: threadStore.resolveUsers })],
  });
  return <BlockNoteView editor={editor} />;
}

try {
  const { serverUrl, documents, token, user } = await enter();
  const client = new AtriumClient({ serverUrl, authToken: token });
  await client.join();
  const threadStore = await openThreadStore(client, "blocks");
  const doc = new Y.Doc();
  const protocols = ["atrium", token]; // unlike the address, these are in no log
  const provider = new WebsocketProvider(documents, "blocks/sync", doc, { protocols });

  showPeople(provider.awareness);
  provider.on("sync", (isSynced: boolean) => say(isSynced ? "Connected" : OFFLINE));
  provider.on("connection-close", () => say(OFFLINE));
  createRoot(find("main")).render(<Page {...{ doc, provider, threadStore, user }} />);
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
