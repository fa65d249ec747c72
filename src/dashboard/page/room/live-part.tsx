/** The participants of a room with their presence, its stream of events, its stores, and its cursors. */
import type { PresenceState, Room, Search, User } from "atrium/server";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useApiQuery } from "../data/organization.tsx";
import { JoinBar, LIVE_REFRESH_MS, useLive } from "../live/live.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Empty, ErrorMessage } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { Stats } from "../ui/stats.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { CursorMap } from "./cursor-map.tsx";
import { StoreTrees } from "./store-trees.tsx";
import { useStream } from "./use-stream.ts";

const MAX_USERS = 100;

export const useRoom = (roomId: string, users: Search) =>
  useApiQuery(["room", roomId, "users", users], ({ rooms }) => rooms.get(roomId, users), {
    refetchInterval: LIVE_REFRESH_MS,
  });

type Presences = Readonly<Record<string, PresenceState>>;

/** All presence states: pushed by the room while watching live, else polled. */
function usePresences(roomId: string): Presences {
  const { client } = useLive();
  const [pushed, setPushed] = useState<Presences>({});
  const { data } = useApiQuery(["room", roomId, "presence"], (atrium) => atrium.getPresence(roomId), {
    refetchInterval: LIVE_REFRESH_MS,
    enabled: client === null,
  });
  useEffect(
    () => client?.presence.sync("*", () => setPushed(Object.fromEntries(client.presence.getStates()))),
    [client],
  );
  return client === null ? (data ?? {}) : pushed;
}

interface RoomProps {
  readonly room: Room;
}

export function LivePart({ room }: RoomProps) {
  const { data, error } = useRoom(room.id, { limit: MAX_USERS });
  const presences = usePresences(room.id);
  const online = (data?.users ?? []).filter(({ status }) => status === "online");
  const unlisted = room.active_participants - online.length;
  const columns: readonly Column<User>[] = [
    {
      label: "Participant",
      cell: ({ id, room_id, name }) => <Link href={`/rooms/${room_id}/users/${id}`}>{name}</Link>,
    },
    { label: "Role", cell: ({ role }) => role },
    { label: "Joined", cell: ({ joined_at }) => joined_at && <Time at={joined_at} /> },
    { label: "Presence", className: "json", cell: ({ id }) => <Presence state={presences[id]} /> },
    {
      label: "Actions",
      className: "row-actions",
      cell: ({ id, name }) => (
        <ConfirmAction
          label="Disconnect"
          accessibleName={`Disconnect ${name}`}
          variant="quiet"
          title={`Disconnect ${name}?`}
          confirmLabel="Close connections"
          act={(atrium) => atrium.removeParticipant(room.id, id)}
          options={{ notice: `${name} was disconnected`, refreshes: [["room", room.id]] }}
        >
          <p>
            All tabs of this user leave the room, and do not come back by themselves. The user may join again:
            end the user's tokens to prevent that.
          </p>
        </ConfirmAction>
      ),
    },
  ];
  return (
    <>
      <Stats
        stats={[
          { label: "Online", value: room.active_participants },
          { label: "Total users", value: room.total_users_created },
          { label: "Active time", value: formatDuration(room.duration_seconds) },
        ]}
      />
      <JoinBar isClosed={room.state === "closed"} />
      <ErrorMessage error={error} />
      <Table label="Participants" items={online} idOf={({ id }) => id} columns={columns} />
      {unlisted > 0 && data && data.usersTotal > MAX_USERS && (
        <p className="soft">
          And {unlisted} more participants. Only the newest {MAX_USERS} users are listed.
        </p>
      )}
      {data && online.length === 0 && unlisted === 0 && <NoParticipants room={room} />}
      <div className="live-columns">
        <EventStream roomId={room.id} />
        <StoreTrees roomId={room.id} />
        <CursorMap users={online} presences={presences} />
      </div>
    </>
  );
}

const Presence = ({ state }: { readonly state: PresenceState | undefined }) =>
  state === undefined ? <span className="soft">none</span> : <code>{JSON.stringify(state)}</code>;

const NoParticipants = ({ room: { id, total_users_created } }: RoomProps) =>
  total_users_created > 0 ? (
    <p className="soft">No one is online right now.</p>
  ) : (
    <Empty title="No one has joined yet">
      <p>
        <Link href={`/rooms/${id}/users`}>Create a user</Link>, then join from a browser with the user's
        token.
      </p>
    </Empty>
  );

/** The events of a room as they happen, each as one line. */
function EventStream({ roomId }: { readonly roomId: string }) {
  const { items, error } = useStream(roomId);
  const { client } = useLive();
  return (
    <Section id="event-stream" title="Events of the last hour">
      <ErrorMessage error={error} />
      {client === null && (
        <p className="soft">Watch live to see broadcasts and each write to a store as well.</p>
      )}
      {items?.length === 0 && <p className="soft">Nothing has happened.</p>}
      {items !== undefined && items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className="scroll stream" tabIndex={0} aria-label="Stream of events">
          <ol>
            {items.map(({ id, at, name, about }) => (
              <li key={id}>
                <Time at={at} />
                <code>{name}</code>
                <span>{about}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </Section>
  );
}
