/** A user of a room: token, name and sessions. */
import type { AtriumServer, User, UserSession } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { LIVE_REFRESH_MS } from "../live/live.tsx";
import { KindBadge } from "../people/people.tsx";
import { CopyButton, Identifier, saveFile } from "../ui/button.tsx";
import { ActionButton, ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Loaded } from "../ui/feedback.tsx";
import { Choice, NameField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";

interface UserPartProps {
  readonly roomId: string;
  readonly userId: string;
}

export function UserPart({ roomId, userId }: UserPartProps) {
  const queryKey = ["user", roomId, userId];
  const query = useApiQuery(queryKey, ({ users }) => users.get(roomId, userId), {
    refetchInterval: LIVE_REFRESH_MS,
  });
  return (
    <Loaded query={query}>
      {({ user, sessions }) => (
        <section aria-labelledby="user-name">
          <p className="above">
            <Link href={`/rooms/${roomId}/users`}>Users</Link>
          </p>
          <div className="title-row">
            <h2 id="user-name">{user.name}</h2>
            <Badge tone={user.status === "online" ? "good" : "plain"}>{user.status}</Badge>
            <Badge tone="plain">{user.role}</Badge>
            {user.kind && <KindBadge kind={user.kind} />}
            <Identifier value={user.id} what="the user's ID" />
            <CopyButton text={user.token} what="token, valid for an hour" label="Copy token" />
            <ConfirmAction
              label="End tokens"
              variant="quiet"
              title={`End the tokens of ${user.name}?`}
              confirmLabel="End tokens"
              act={({ users }) => users.endTokens(roomId, userId)}
              options={{ toast: "Tokens ended", refreshes: [["room", roomId, "users"], queryKey] }}
            >
              <p>All tokens of the user so far stop working and their connections close. The user stays.</p>
            </ConfirmAction>
            <Export user={user} />
            <Deletion user={user} />
          </div>
          {user.profile_picture && <p className="soft">Profile picture: {user.profile_picture}</p>}
          <Name user={user} />
          <h3>Sessions</h3>
          {sessions.length === 0 && (
            <p className="soft">This user has never joined. Join from a browser with the token.</p>
          )}
          <Table label="Sessions" items={sessions} idOf={({ id }) => id} columns={SESSION_COLUMNS} />
        </section>
      )}
    </Loaded>
  );
}

const SESSION_COLUMNS: readonly Column<UserSession>[] = [
  { label: "Joined", cell: ({ joined_at }) => <Time at={joined_at} /> },
  {
    label: "Left",
    cell: ({ left_at }) => (left_at === null ? <Badge tone="good">online</Badge> : <Time at={left_at} />),
  },
  {
    label: "Duration",
    cell: ({ joined_at, left_at }) => formatDuration(secondsBetween(joined_at, left_at)),
  },
];

const secondsBetween = (from: string, to: string | null): number =>
  Math.max(0, Math.round(((to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1000));

interface UserProps {
  readonly user: Pick<User, "id" | "room_id" | "name">;
}

/** Saves the data that are kept of the user, one JSON object a line. */
function Export({ user: { id, room_id } }: UserProps) {
  const save = async ({ users }: AtriumServer) => {
    const lines: string[] = [];
    for await (const record of users.eachRecord(room_id, id)) lines.push(`${JSON.stringify(record)}\n`);
    saveFile(`${id}.ndjson`, "application/x-ndjson", lines.join(""));
  };
  return <ActionButton label="Export data" act={save} options={{ toast: "Data exported" }} />;
}

function Deletion({ user: { id, room_id, name } }: UserProps) {
  const [, go] = useLocation();
  const [erases, setErases] = useState(false);
  return (
    <ConfirmAction
      label="Delete"
      variant="quiet"
      title={`Delete ${name}?`}
      confirmLabel="Delete user"
      act={({ users }) => users[erases ? "erase" : "delete"](room_id, id)}
      options={{
        toast: erases ? "User erased" : "User deleted",
        refreshes: [["room", room_id], ["overview"]],
        onDone: () => go(`/rooms/${room_id}/users`, { replace: true }),
      }}
    >
      <p>The user's tokens stop working and their connections close. This cannot be undone.</p>
      <Choice isOn={erases} onChange={setErases}>
        Erase their comments, reactions and files, and their name in events
      </Choice>
    </ConfirmAction>
  );
}

function Name({ user: { id, room_id, name } }: UserProps) {
  const rename = useAction(({ users }, next: string) => users.update(room_id, id, { name: next }), {
    toast: "User saved",
    undo: ({ users }) => users.update(room_id, id, { name }),
    refreshes: [
      ["room", room_id, "users"],
      ["user", room_id, id],
    ],
  });
  return (
    <Form key={name} submitLabel="Save" action={rename} toInput={({ name: next = "" }) => next}>
      <NameField defaultValue={name} />
    </Form>
  );
}
