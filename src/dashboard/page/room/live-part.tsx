/** The participants of a room with their presence, its stream of events, its stores, and its cursors. */

import type { PresenceState, Room, Search, StoreSummary, User } from "atrium/server";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useApiQuery } from "../data/organization.tsx";
import { JoinBar, LIVE_REFRESH_MS, useLive } from "../live/live.tsx";
import { ScrollBox } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Empty, ErrorMessage, Loaded } from "../ui/feedback.tsx";
import { JsonBranch, JsonChildren, useChangeCount } from "../ui/json-tree.tsx";
import { Section, Stats } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { boundsOf, type Point, pointIn } from "./coordinates.ts";
import { EntryPager, useEntryPage, useStores } from "./entries.tsx";
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
        <ScrollBox className="stream" label="Stream of events">
          <ol>
            {items.map(({ id, at, name, about }) => (
              <li key={id}>
                <Time at={at} />
                <code>{name}</code>
                <span>{about}</span>
              </li>
            ))}
          </ol>
        </ScrollBox>
      )}
    </Section>
  );
}

interface CursorMapProps {
  readonly users: readonly User[];
  readonly presences: Readonly<Record<string, PresenceState>>;
}

interface Cursor {
  readonly user: User;
  readonly point: Point;
  readonly color: string;
}

/** From this share of the map's width on, a name stands before its point: after it, there is no room. */
const NAME_IN_FRONT = 0.6;

/** A share of the map's length, so far from its edges that points on them are seen. */
const inside = (share: number): string => `calc(1rem + (100% - 2rem) * ${share})`;

function CursorMap({ users, presences }: CursorMapProps) {
  const cursors = users.flatMap((user): Cursor[] => {
    const state = presences[user.id];
    const point = pointIn(state);
    return point === null ? [] : [{ user, point, color: String(state?.color) }];
  });
  if (cursors.length === 0) return null;
  const { min, max } = boundsOf(cursors.map(({ point }) => point));
  const across = ({ x }: Point) => (x - min.x) / (max.x - min.x);
  const down = ({ y }: Point) => (y - min.y) / (max.y - min.y);
  const place = (point: Point) => ({ left: inside(across(point)), top: inside(down(point)) });
  return (
    <Section id="cursor-map" title="Cursors">
      <ul className="cursor-map">
        {cursors.map(({ user, point, color }) => (
          <li
            key={user.id}
            className={across(point) > NAME_IN_FRONT ? "name-in-front" : undefined}
            style={place(point)}
          >
            <span className="dot" style={{ background: color }} aria-hidden="true" />
            <span>
              {user.name}
              <span className="hidden">
                {" "}
                at {Math.round(point.x)}, {Math.round(point.y)}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function StoreTrees({ roomId }: { readonly roomId: string }) {
  const { data, error } = useStores(roomId);
  return (
    <Section id="store-trees" title="Stores">
      <ErrorMessage error={error} />
      {data?.length === 0 && (
        <p className="soft">
          There are none. <Link href={`/rooms/${roomId}/stores`}>Create one</Link>, or let a client write.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <ScrollBox className="json-tree" label="Stores as a tree">
          {data.map((store, index) => (
            <StoreBranch key={store.name} roomId={roomId} store={store} isOpenAtFirst={index === 0} />
          ))}
        </ScrollBox>
      )}
    </Section>
  );
}

interface StoreBranchProps {
  readonly roomId: string;
  readonly store: StoreSummary;
  readonly isOpenAtFirst: boolean;
}

function StoreBranch({ roomId, store: { name, entries }, isOpenAtFirst }: StoreBranchProps) {
  const changes = useChangeCount(entries);
  const size = `{${entries.toLocaleString("en")}}`;
  return (
    <JsonBranch {...{ name, changes, isOpenAtFirst }} summaryOf={() => size}>
      <Entries roomId={roomId} store={name} total={entries} />
    </JsonBranch>
  );
}

interface EntriesProps {
  readonly roomId: string;
  readonly store: string;
  readonly total: number;
}

function Entries({ roomId, store, total }: EntriesProps) {
  const { query, position } = useEntryPage(roomId, store);
  return (
    <Loaded query={query}>
      {({ entries }) => (
        <>
          {/* An entry that comes to a shown page is new; one of another page is not. */}
          <JsonChildren
            key={query.isPlaceholderData ? "loading" : position.offset}
            entries={entries.map(([key, { value }]) => [key, value])}
          />
          <EntryPager {...{ position, store, total }} shown={entries.length} />
        </>
      )}
    </Loaded>
  );
}
