/** A room: participants, users, stores, documents, comments and files. */

import type { Room, RoomUpdateInput } from "atrium/server";
import { lazy, Suspense, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation, useParams } from "wouter";
import { AccessPart } from "../access/access-part.tsx";
import { nameInPath } from "../data/address.ts";
import { loadPage } from "../data/connection.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { DocumentsPart } from "../documents/documents-part.tsx";
import { LiveProvider, refreshMs } from "../live/live.tsx";
import { allLimitsOf, LimitFields, LimitsLine, limitsOf } from "../rooms/limits.tsx";
import { ExpiryField, expiryOf } from "../rooms/rooms.tsx";
import { Identifier } from "../ui/button.tsx";
import { Confirm, Dialog } from "../ui/dialog.tsx";
import { Badge, Loaded, Loading } from "../ui/feedback.tsx";
import { NameField, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { MenuItem, MoreMenu } from "../ui/menu.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ActiveTime } from "./active-time.tsx";
import { CommentsPart } from "./comments-part.tsx";
import { FilesPart } from "./files-part.tsx";
import { LivePart } from "./live-part.tsx";
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
  { name: "Access", path: "/access" },
];

const ABOVE = <Link href="/rooms">Rooms</Link>;

export default function RoomPage() {
  const { roomId = "" } = useParams();
  return <RoomFrame key={roomId} roomId={roomId} />;
}

function RoomFrame({ roomId }: { readonly roomId: string }) {
  const users = { limit: 1 };
  const [isLive, setLive] = useState(false);
  const query = useApiQuery(["room", roomId, "users", users], ({ rooms }) => rooms.get(roomId, users), {
    refetchInterval: refreshMs(isLive),
  });
  return (
    <Loaded query={query} shape="page" above={ABOVE}>
      {({ room }) => (
        <Page
          title={room.name}
          above={ABOVE}
          beside={
            <>
              {room.custom_id && <span className="soft">{room.custom_id}</span>}
              {room.state === "closed" && <Badge tone="waiting">closed</Badge>}
              <Badge tone={room.active_participants > 0 ? "good" : "plain"}>
                {`${room.active_participants} online`}
              </Badge>
              {room.expires_at !== null && (
                <span className="soft">
                  Expires <Time at={room.expires_at} />
                </span>
              )}
              {room.total_users_created > 0 && (
                <span className="soft">
                  {room.total_users_created.toLocaleString("en")}{" "}
                  {room.total_users_created === 1 ? "user" : "users"} so far · <ActiveTime {...room} /> in use
                </span>
              )}
              <Identifier value={room.id} what="the room's ID" />
              <LimitsLine of={room} />
            </>
          }
          actions={<RoomActions room={room} />}
        >
          <Tabs label="Room" base={`/rooms/${roomId}`} tabs={TABS} />
          <LiveProvider room={room} onLive={setLive}>
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
              <Route path="/rooms/:roomId/access">
                <AccessPart room={room} />
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

function RoomActions({ room }: { readonly room: Room }) {
  const { id, name, custom_id, state, expires_at } = room;
  const [, go] = useLocation();
  const [openDialog, setOpenDialog] = useState<"edit" | "delete" | null>(null);
  const close = () => setOpenDialog(null);
  const isClosed = state === "closed";
  const refreshes = [["room", id], ["rooms"]];
  const reconcile = useAction(({ rooms }) => rooms.reconcile(id), {
    toast: ({ previous_active_participants: before, reconciled_active_participants: now }) =>
      before === now ? `No correction needed: ${now} online` : `Corrected from ${before} to ${now} online`,
    refreshes,
    notifiesErrors: true,
  });
  const setState = useAction(({ rooms }, next: Room["state"]) => rooms.update(id, { state: next }), {
    toast: isClosed ? "Room reopened" : "Room closed",
    undo: ({ rooms }) => rooms.update(id, { state }),
    refreshes,
    notifiesErrors: true,
  });
  const edit = useAction(({ rooms }, changes: RoomUpdateInput) => rooms.update(id, changes), {
    toast: "Room saved",
    undo: ({ rooms }) =>
      rooms.update(id, {
        ...{ name, customId: custom_id ?? null, expiresAt: expires_at, limits: allLimitsOf(room) },
      }),
    refreshes,
    onDone: close,
  });
  const remove = useAction(({ rooms }) => rooms.delete(id), {
    toast: "Room deleted",
    refreshes: [["rooms"], ["overview"]],
    onDone: () => go("/rooms", { replace: true }),
  });
  return (
    <>
      <MoreMenu>
        <MenuItem onSelect={() => setOpenDialog("edit")}>Edit…</MenuItem>
        <MenuItem onSelect={() => setState.mutate(isClosed ? "active" : "closed")}>
          {isClosed ? "Reopen" : "Close"}
        </MenuItem>
        <MenuItem onSelect={() => reconcile.mutate()}>Reconcile</MenuItem>
        <hr />
        <MenuItem isDanger onSelect={() => setOpenDialog("delete")}>
          Delete…
        </MenuItem>
      </MoreMenu>
      <Dialog title="Edit room" isOpen={openDialog === "edit"} onClose={close}>
        <Form
          submitLabel="Save"
          action={edit}
          onCancel={close}
          toInput={({ name: next = "", customId = "", expiresAt, ...limits }) => ({
            ...{ name: next, customId: customId || null },
            ...expiryOf(expiresAt, room),
            ...limitsOf(limits, room),
          })}
        >
          <NameField defaultValue={name} />
          <TextField label="Custom ID" name="customId" defaultValue={custom_id ?? ""} maxLength={255} />
          <ExpiryField of={room} />
          <LimitFields of={room} />
        </Form>
      </Dialog>
      <Confirm
        title={`Delete ${name}?`}
        confirmLabel="Delete room"
        action={remove}
        isOpen={openDialog === "delete"}
        onClose={close}
      >
        <p>
          This deletes its users, stores, comments and files, and disconnects all participants. This cannot be
          undone.
        </p>
      </Confirm>
    </>
  );
}
