/** A room: participants, users, stores, documents, comments and files. */
import { lazy, Suspense } from "react";
import { Link, Redirect, Route, Switch, useLocation, useParams } from "wouter";
import { loadPage } from "../data/load-page.ts";
import { nameInPath } from "../data/path-name.ts";
import { useAddress } from "../data/use-address.ts";
import { DocumentsPart } from "../documents/documents-part.tsx";
import { LiveProvider } from "../live/live.tsx";
import { Identifier } from "../ui/copy.tsx";
import { Badge, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { bringIntoView, Page } from "../ui/page.tsx";
import { CommentsPart } from "./comments-part.tsx";
import { FilesPart } from "./files-part.tsx";
import { LivePart } from "./live-part.tsx";
import { RoomActions } from "./room-actions.tsx";
import { StoresPart } from "./stores-part.tsx";
import { useRoom } from "./use-room.ts";
import { UserPart } from "./user-part.tsx";
import { UsersPart } from "./users-part.tsx";

/** Loaded on demand, like what reads documents. */
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
  const address = useAddress();
  const { data, error, refetch } = useRoom(roomId, { limit: 1 });
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  const { room } = data;
  return (
    <Page
      title={room.name}
      above={<Link href={address("/rooms")}>Rooms</Link>}
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
      <ErrorMessage error={error} />
      <Tabs base={address(`/rooms/${roomId}`)} />
      <LiveProvider room={room}>
        <Switch>
          <Route path="/:accountId/rooms/:roomId">
            <LivePart room={room} />
          </Route>
          <Route path="/:accountId/rooms/:roomId/users">
            <UsersPart roomId={roomId} />
          </Route>
          <Route path="/:accountId/rooms/:roomId/users/:userId">
            {({ userId }) => <UserPart roomId={roomId} userId={userId} />}
          </Route>
          <Route path="/:accountId/rooms/:roomId/stores/:store?">
            {({ store }) => <StoresPart roomId={roomId} chosen={store && nameInPath(store)} />}
          </Route>
          <Route path="/:accountId/rooms/:roomId/documents">
            <DocumentsPart roomId={roomId} />
          </Route>
          <Route path="/:accountId/rooms/:roomId/documents/:name">
            {({ name }) => (
              <Suspense fallback={<Loading />}>
                <DocumentPart key={name} roomId={roomId} name={nameInPath(name)} />
              </Suspense>
            )}
          </Route>
          <Route path="/:accountId/rooms/:roomId/comments">
            <CommentsPart roomId={roomId} />
          </Route>
          <Route path="/:accountId/rooms/:roomId/files">
            <FilesPart room={room} />
          </Route>
          <Route>
            <Redirect to={address(`/rooms/${roomId}`)} replace />
          </Route>
        </Switch>
      </LiveProvider>
    </Page>
  );
}

function Tabs({ base }: { readonly base: string }) {
  const [path] = useLocation();
  const isHere = (tab: string) => (tab === "" ? path === base : path.startsWith(base + tab));
  return (
    <nav className="tabs" aria-label="Room">
      {TABS.map((tab) => (
        <Link
          key={tab.path}
          href={base + tab.path}
          {...(isHere(tab.path) && { "aria-current": "page", ref: bringIntoView })}
        >
          {tab.name}
        </Link>
      ))}
    </nav>
  );
}
