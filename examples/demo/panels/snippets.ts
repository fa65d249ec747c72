/** The code that the drawer shows for each feature: whole modules, which the tests of the documentation compile. */
import type { Feature } from "../ui/used.ts";

interface Snippet {
  readonly title: Feature;
  readonly code: string;
}

export const SNIPPETS: readonly Snippet[] = [
  {
    title: "Join",
    code: `import { AtriumProvider, RoomProvider } from "atrium/react";

// Your back end gives each person a token.
export const App = ({ token }: { token: () => Promise<string> }) => (
  <AtriumProvider serverUrl="https://atrium.example" authToken={token}>
    <RoomProvider roomId="8f14e45f-ceea-467f-a8d7-5a3c6d1c2b90">…</RoomProvider>
  </AtriumProvider>
);`,
  },
  {
    title: "Cursors",
    code: `import { AvatarStack, Cursors } from "atrium/react-ui";

// Pointers are presence: sent to everyone here, and kept nowhere.
export const Board = () => (
  <Cursors>
    <AvatarStack />
  </Cursors>
);`,
  },
  {
    title: "Notes",
    code: `import { useStore } from "atrium/react";

export function Notes() {
  const [notes, { update }] = useStore<{ text: string }>("notes");
  return Object.entries(notes).map(([id, { text }]) => (
    <textarea key={id} value={text} onChange={(e) => update(id, { text: e.target.value })} />
  ));
}`,
  },
  {
    title: "Drawing",
    code: `import type { AtriumClient } from "atrium/client";

// While it is drawn, a stroke is presence; when the pen goes up, the store keeps it.
export const draw = (client: AtriumClient, points: number[]) =>
  client.presence.update({ draft: points });

export const drop = (client: AtriumClient, points: number[]) =>
  client.store("shapes").set(crypto.randomUUID(), { points });`,
  },
  {
    title: "Comments",
    code: `import { useThreads } from "atrium/react";
import { Composer, Thread } from "atrium/react-ui";

// Replies, mentions, reactions and unread marks are in it.
export function Discussion() {
  const [{ threads }] = useThreads();
  return <>{threads?.map(({ id }) => <Thread key={id} threadId={id} />)}<Composer /></>;
}`,
  },
  {
    title: "Reactions",
    code: `import { useBroadcast } from "atrium/react";

// A broadcast reaches everyone here at once, and no one later.
export function Cheer() {
  const cheer = useBroadcast("cheer", (emoji, from) => console.log(from, emoji));
  return <button onClick={() => cheer("☕")}>☕</button>;
}`,
  },
  {
    title: "Following",
    code: `import { useSelf } from "atrium/react";
import { AvatarStack } from "atrium/react-ui";

// A click on an avatar follows that person's pointer.
export function People() {
  const following = useSelf(({ user }) => user.following) ?? [];
  return <AvatarStack pressed={following} onAvatarClick={(user) => user.follow()} />;
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

// Follows each change of access at once: choose "Can view" in the dialog "Share".
export function Toolbar() {
  const { canWrite } = useRoomPermissions();
  return <button disabled={!canWrite("stores")}>Add note</button>;
}`,
  },
];
