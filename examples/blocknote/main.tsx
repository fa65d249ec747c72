/** Edits a document of the room in BlockNote, over y-websocket, with comments on its text and suggestions for it. */
import "@blocknote/mantine/style.css";
import "atrium/react-ui/styles.css";
import { CommentsExtension } from "@blocknote/core/comments";
import { BlockNoteView } from "@blocknote/mantine";
import { useCreateBlockNote } from "@blocknote/react";
import { type AtriumThreadStore, openThreadStore } from "atrium/blocknote";
import { AtriumClient } from "atrium/client";
import { RoomProvider } from "atrium/react";
import { createRoot } from "react-dom/client";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { enter, find, OFFLINE, type Person, say, showPeople } from "./page.ts";
import { Suggesting } from "./suggesting.tsx";

const BLOCKS = "blocks";

interface EditorProps {
  readonly provider: WebsocketProvider;
  readonly isEditable: boolean;
  readonly threadStore: AtriumThreadStore;
  readonly user: Person;
}

function Editor({ provider, isEditable, threadStore, user }: EditorProps) {
  const fragment = provider.doc.getXmlFragment("blocks");
  const editor = useCreateBlockNote({
    collaboration: { provider, fragment, user },
    extensions: [CommentsExtension({ threadStore, resolveUsers: threadStore.resolveUsers })],
  });
  return <BlockNoteView editor={editor} editable={isEditable} />;
}

try {
  const { serverUrl, documents, token, user } = await enter();
  const client = new AtriumClient({ serverUrl, authToken: token });
  await client.join();
  const threadStore = await openThreadStore(client, BLOCKS);
  const protocols = ["atrium", token]; // unlike the address, these are in no log

  /** Opens a document of the room, or the fork of a suggestion. */
  const open = (name: string) => {
    const provider = new WebsocketProvider(documents, `${encodeURIComponent(name)}/sync`, new Y.Doc(), {
      protocols,
    });
    showPeople(provider.awareness);
    provider.on("sync", (isSynced: boolean) => say(isSynced ? "Connected" : OFFLINE));
    provider.on("connection-close", () => say(OFFLINE));
    return provider;
  };

  createRoot(find("main")).render(
    <RoomProvider client={client}>
      <Suggesting document={BLOCKS} open={open} title={`Changes by ${user.name}`}>
        {(provider, isEditable) => (
          <Editor key={provider.doc.guid} {...{ provider, isEditable, threadStore, user }} />
        )}
      </Suggesting>
    </RoomProvider>,
  );
} catch (error) {
  say(`The document could not be opened: ${error}`);
}
