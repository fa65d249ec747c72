/** A room: participants, users, stores, documents, comments and files. */
import { lazy, Suspense } from "react";
import { Link, Redirect, Route, Switch, useParams } from "wouter";
import { nameInPath } from "../data/address.ts";
import { loadPage } from "../data/connection.ts";
import { DocumentsPart } from "../documents/documents-part.tsx";
import { LiveProvider } from "../live/live.tsx";
import { Identifier } from "../ui/button.tsx";
import { Badge, Loaded, Loading } from "../ui/feedback.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { CommentsPart } from "./comments-part.tsx";
import { FilesPart } from "./files-part.tsx";
import { LivePart, useRoom } from "./live-part.tsx";
import { RoomActions } from "./room-actions.tsx";
import { StoresPart } from "./stores-part.tsx";
import { UserPart } from "./user-part.tsx";
import { UsersPart } from "./users-part.tsx";

/** Loaded on demand, like Yjs, which reads documents. */
const DocumentPart = lazy(() => loadPage(() => import("../documents/document-part.tsx")));

const TABS = [
  { name: "Live", path: "" },
  { name: "Users", path: "/users" },
  { name: "Stores", path: "/stores" },
  { name: "Documents", path: "/documents" },
  { name: "Comments", path: "/comments" },
  { name: "Files", path: "/files" },
];

export default function RoomPage() {
  const { roomId = "" } = useParams();
  return <RoomFrame key={roomId} roomId={roomId} />;
}

function RoomFrame({ roomId }: { readonly roomId: string }) {
  const query = useRoom(roomId, { limit: 1 });
  return (
    <Loaded query={query}>
      {({ room }) => (
        <Page
          title={room.name}
          above={<Link href="/rooms">Rooms</Link>}
          beside={
            <>
              {room.state === "closed" && <Badge tone="waiting">closed</Badge>}
              <Badge tone={room.active_participants > 0 ? "good" : "plain"}>
                {`${room.active_participants} online`}
              </Badge>
              <Identifier value={room.id} what="the room's ID" />
            </>
          }
          actions={<RoomActions room={room} />}
        >
          <Tabs label="Room" base={`/rooms/${roomId}`} tabs={TABS} />
          <LiveProvider room={room}>
            <Switch>
              <Route path="/rooms/:roomId">
                <LivePart room={room} />
              </Route>
              <Route path="/rooms/:roomId/users">
                <UsersPart roomId={roomId} />
              </Route>
              <Route path="/rooms/:roomId/users/:userId">
                {({ userId }) => <UserPart roomId={roomId} userId={userId} />}
              </Route>
              <Route path="/rooms/:roomId/stores/:store?">
                {({ store }) => <StoresPart roomId={roomId} chosen={store && nameInPath(store)} />}
              </Route>
              <Route path="/rooms/:roomId/documents">
                <DocumentsPart roomId={roomId} />
              </Route>
              <Route path="/rooms/:roomId/documents/:name">
                {({ name }) => (
                  <Suspense fallback={<Loading />}>
                    <DocumentPart key={name} roomId={roomId} name={nameInPath(name)} />
                  </Suspense>
                )}
              </Route>
              <Route path="/rooms/:roomId/comments">
                <CommentsPart roomId={roomId} />
              </Route>
              <Route path="/rooms/:roomId/files">
                <FilesPart room={room} />
              </Route>
              <Route>
                <Redirect to={`/rooms/${roomId}`} replace />
              </Route>
            </Switch>
          </LiveProvider>
        </Page>
      )}
    </Loaded>
  );
}
