/**
 * A page of the package's components, as an application has it. Its address has the service and, after `#`, the token;
 * with a `room`, the token is an identity's, whose inbox is shown, and `known` are the names of people by their IDs.
 */
import { AtriumProvider, RoomProvider, useComments, useRoom } from "atrium/react";
import {
  AvatarStack,
  Composer,
  ConnectionStatus,
  Cursors,
  InboxNotificationList,
  type NotificationProps,
  Thread,
} from "atrium/react-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const given = new URLSearchParams(location.search);
const serverUrl = given.get("service") ?? "";
const room = given.get("room");
const authToken = location.hash.slice(1);
const known: Record<string, string> = JSON.parse(given.get("known") ?? "{}");

function Threads() {
  const [comments] = useComments();
  return comments
    .filter(({ id, thread_id }) => id === thread_id)
    .map(({ id }) => <Thread key={id} threadId={id} />);
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
  return (
    <InboxNotificationList
      resolvePerson={resolvePerson}
      resolveRoom={() => "Weekly planning"}
      resolveText={resolveText}
      hrefOf={({ thread_id }) => thread_id && `#${thread_id}`}
      kinds={KINDS}
    />
  );
}

const page = (
  <Cursors>
    <main>
      <h1>Weekly planning</h1>
      <div className="people">
        <AvatarStack max={3} />
        <ConnectionStatus />
      </div>
      {room && <Inbox />}
      <Threads />
      <Composer />
    </main>
  </Cursors>
);

createRoot(document.getElementById("root") as HTMLElement).render(
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
