/** The code that the page shows: whole modules, which the tests of the documentation compile. */

interface Snippet {
  readonly title: string;
  readonly code: string;
}

export const SNIPPETS: readonly Snippet[] = [
  {
    title: "Join",
    code: `import { AtriumProvider, RoomProvider } from "atrium/react";

// The token of an identity, from your back end, opens all rooms to which it has access.
export const App = ({ token, roomId }: { token: () => Promise<string>; roomId: string }) => (
  <AtriumProvider serverUrl="https://atrium.example" authToken={token}>
    <RoomProvider roomId={roomId}>
      <main>…</main>
    </RoomProvider>
  </AtriumProvider>
);`,
  },
  {
    title: "Cursors",
    code: `import { useSelf } from "atrium/react";
import { AvatarStack, ConnectionStatus, Cursors } from "atrium/react-ui";

// A pan or a zoom of the board moves the cursors along, and a click on an avatar follows that user.
export function Board({ view }: { view: { x: number; y: number; zoom: number } }) {
  const following = useSelf(({ user }) => user.following) ?? [];
  return (
    <Cursors view={view}>
      <main>…</main>
      <AvatarStack pressed={following} onAvatarClick={(user) => user.follow()} />
      <ConnectionStatus />
    </Cursors>
  );
}`,
  },
  {
    title: "Notes",
    code: `import { useStore } from "atrium/react";

export function Notes() {
  const [notes, { set, update }] = useStore<{ text: string }>("notes");
  return (
    <>
      {Object.entries(notes).map(([id, { text }]) => (
        <textarea key={id} value={text}
          onChange={({ target }) => update(id, { text: target.value })} />
      ))}
      <button onClick={() => set(crypto.randomUUID(), { text: "" })}>Add note</button>
    </>
  );
}`,
  },
  {
    title: "Drawing",
    code: `import type { AtriumClient } from "atrium/client";

// While it is drawn, a stroke is presence. When the pen goes up, the store keeps it.
export const draw = (client: AtriumClient, points: number[]) =>
  client.presence.update({ draft: points });

export async function drop(client: AtriumClient, points: number[]) {
  await client.store("shapes").set(crypto.randomUUID(), { points });
  client.presence.update({ draft: null });
}`,
  },
  {
    title: "Undo",
    code: `import { useCanUndo, useUndo } from "atrium/react";

// Takes back your own changes, and never what others have done since.
export function Undo() {
  const undo = useUndo();
  return <button disabled={!useCanUndo()} onClick={undo}>Undo</button>;
}`,
  },
  {
    title: "Access",
    code: `import { useRoomPermissions } from "atrium/react";

// Follows each change of access at once: in the dialog "Share", choose "Can view".
export function Toolbar() {
  const { canWrite } = useRoomPermissions();
  return <button disabled={!canWrite("stores")}>Add note</button>;
}`,
  },
  {
    title: "Reactions",
    code: `import { useBroadcast } from "atrium/react";

export function Cheer() {
  const cheer = useBroadcast("cheer", (emoji, from) => console.log(from, emoji));
  return <button onClick={() => cheer("☕")}>☕</button>;
}`,
  },
];
