/**
 * A page of the package's components, as an application has it. Its address has the service and, after `#`, the token;
 * with a `room`, the token is an identity's, whose inbox is shown, and `known` are the names of people by their IDs. With
 * a `canvas`, it shows the pins of one; with a `document`, the versions of it; with `suggested`, the suggestions of that
 * document; and with `follow`, avatars follow their users, over an area that is panned and zoomed.
 */
import {
  AtriumProvider,
  RoomProvider,
  useComments,
  useInboxNotifications,
  useRoom,
  useSelf,
} from "atrium/react";
import {
  AvatarStack,
  Composer,
  ConnectionStatus,
  Cursors,
  type GroupResolver,
  InboxNotification,
  InboxNotificationList,
  type NotificationProps,
  Suggestions,
  Thread,
  VersionHistory,
} from "atrium/react-ui";
import { type CanvasEditor, CommentPins } from "atrium/tldraw";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const given = new URLSearchParams(location.search);
const serverUrl = given.get("service") ?? "";
const room = given.get("room");
const edited = given.get("document");
const suggested = given.get("suggested");
const authToken = location.hash.slice(1);
const known: Record<string, string> = JSON.parse(given.get("known") ?? "{}");

const resolveGroup: GroupResolver = async (id) => ({ name: `Group ${id}` });

function Threads() {
  const [comments] = useComments();
  return comments
    .filter(({ id, thread_id }) => id === thread_id)
    .map(({ id }) => <Thread key={id} threadId={id} resolveGroup={resolveGroup} />);
}

const resolvePerson: NotificationProps["resolvePerson"] = async ({ created_by }) => {
  const name = known[created_by ?? ""];
  return name ? { name } : null;
};

const KINDS: NotificationProps["kinds"] = {
  $invoice: ({ activities }) => `Invoice over ${activities[0]?.data.amount} €`,
};

function Inbox() {
  const { client } = useRoom();
  const resolveText: NotificationProps["resolveText"] = async ({ thread_id }) =>
    thread_id && (await client.comments.list({ threadId: thread_id })).comments.at(-1)?.text;
  const [{ notifications }] = useInboxNotifications({ kind: "$invoice" });
  const [invoice] = notifications;
  return (
    <>
      <InboxNotificationList
        resolvePerson={resolvePerson}
        resolveRoom={() => "Weekly planning"}
        resolveText={resolveText}
        hrefOf={({ thread_id }) => thread_id && `#${thread_id}`}
        kinds={KINDS}
      />
      {invoice && <InboxNotification notification={invoice} kinds={KINDS} />}
    </>
  );
}

function Followed() {
  const following = useSelf(({ user }) => user.following) ?? [];
  return (
    <AvatarStack
      onAvatarClick={(user) => user.follow()}
      pressed={following}
      label={(name) => `Follow ${name}`}
    />
  );
}

type Box = ReturnType<CanvasEditor["getViewportScreenBounds"]>;

/** As much of tldraw's editor as comments need: two pages, of which the first has a box. `window.canvas` moves them. */
const canvas = {
  page: "page:1",
  camera: { x: 0, y: 0 },
  boxes: { "shape:box": { x: 200, y: 200, w: 200, h: 100 } } as Record<string, Box | undefined>,
  change(part: object): void {
    Object.assign(canvas, part);
    for (const listener of canvas.listeners) listener();
  },
  listeners: new Set<() => void>(),
};
Object.assign(window, { canvas });

const editor: CanvasEditor = {
  getCurrentPageId: () => canvas.page,
  getViewportScreenBounds: () => ({ x: 0, y: 0, w: innerWidth, h: innerHeight }),
  screenToPage: ({ x, y }) => ({ x: x - canvas.camera.x, y: y - canvas.camera.y }),
  pageToViewport: ({ x, y }) => ({ x: x + canvas.camera.x, y: y + canvas.camera.y }),
  getShapeAtPoint: ({ x, y }) => {
    const isInside = ([, box]: [string, Box | undefined]) =>
      box && x > box.x && y > box.y && x < box.x + box.w && y < box.y + box.h;
    const id = Object.entries(canvas.boxes).find(isInside)?.[0];
    return id === undefined ? undefined : { id };
  },
  getShapePageBounds: (id) => canvas.boxes[id],
  getAncestorPageId: () => "page:1",
  markEventAsHandled: () => {},
  on: (_, listener) => canvas.listeners.add(listener),
  off: (_, listener) => canvas.listeners.delete(listener),
};

const page = given.has("canvas") ? (
  <main>
    <h1>Weekly planning</h1>
    <ConnectionStatus />
    <CommentPins editor={editor} />
  </main>
) : (
  <Cursors view={given.has("follow") ? { x: 10, y: 20, zoom: 2 } : undefined}>
    <main>
      <h1>Weekly planning</h1>
      <div className="people">
        {given.has("follow") ? <Followed /> : <AvatarStack max={3} />}
        <ConnectionStatus />
      </div>
      {room && <Inbox />}
      {edited && <VersionHistory document={edited} />}
      {suggested && <Suggestions document={suggested} type="xml" />}
      <Threads />
      <Composer />
    </main>
  </Cursors>
);

const root = createRoot(document.getElementById("root") as HTMLElement);
/** As an application that shows another page. */
Object.assign(window, { leave: () => root.unmount() });
root.render(
  <StrictMode>
    {room ? (
      <AtriumProvider serverUrl={serverUrl} authToken={authToken}>
        <RoomProvider roomId={room}>{page}</RoomProvider>
      </AtriumProvider>
    ) : (
      <RoomProvider serverUrl={serverUrl} authToken={authToken}>
        {page}
      </RoomProvider>
    )}
  </StrictMode>,
);
