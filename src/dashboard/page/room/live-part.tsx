/** The participants of a room and their presence. */
import { useQuery } from "@tanstack/react-query";
import type { PresenceState, Room, User } from "atrium/server";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { JoinBar } from "../live/join-bar.tsx";
import { useLive } from "../live/live.tsx";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";
import { Stats } from "../overview/stats.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Empty, ErrorMessage } from "../ui/feedback.tsx";
import { Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { CursorMap } from "./cursor-map.tsx";
import { StoreTrees } from "./store-trees.tsx";
import { useRoom } from "./use-room.ts";
import { useStream } from "./use-stream.ts";
import { useRemoveParticipant } from "./use-users.ts";

const MAX_USERS = 100;

type Presences = Readonly<Record<string, PresenceState>>;

/** All presence states: pushed by the room while watching live, else polled. */
function usePresences(roomId: string): Presences {
  const { atrium } = useCurrent();
  const key = useKey();
  const { client } = useLive();
  const [pushed, setPushed] = useState<Presences>({});
  const { data } = useQuery({
    queryKey: key("room", roomId, "presence"),
    queryFn: () => atrium.getPresence(roomId),
    refetchInterval: LIVE_REFRESH_MS,
    enabled: client === null,
  });
  useEffect(
    () => client?.presence.sync("*", () => setPushed(Object.fromEntries(client.presence.getStates()))),
    [client],
  );
  return client === null ? (data ?? {}) : pushed;
}

export function LivePart({ room }: { readonly room: Room }) {
  const { data, error } = useRoom(room.id, { limit: MAX_USERS });
  const presences = usePresences(room.id);
  const online = (data?.users ?? []).filter(({ status }) => status === "online");
  const unlisted = room.active_participants - online.length;
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
      {online.length > 0 && <Participants users={online} presences={presences} />}
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

interface ParticipantsProps {
  readonly users: readonly User[];
  readonly presences: Presences;
}

function Participants({ users, presences }: ParticipantsProps) {
  const address = useAddress();
  return (
    <Table label="Participants" columns={["Participant", "Role", "Joined", "Presence", "!Actions"]}>
      {users.map((user) => (
        <tr key={user.id}>
          <th scope="row">
            <Link href={address(`/rooms/${user.room_id}/users/${user.id}`)}>{user.name}</Link>
          </th>
          <td>{user.role}</td>
          <td>{user.joined_at && <Time at={user.joined_at} />}</td>
          <td className="json">
            <Presence state={presences[user.id]} />
          </td>
          <td className="row-actions">
            <Disconnection user={user} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Disconnection({ user }: { readonly user: User }) {
  const disconnect = useRemoveParticipant(user);
  return (
    <ConfirmButton
      label="Disconnect"
      accessibleName={`Disconnect ${user.name}`}
      variant="quiet"
      title={`Disconnect ${user.name}?`}
      confirmLabel="Close connections"
      act={disconnect}
    >
      <p>
        All tabs of this user leave the room, and do not come back by themselves. The user may join again: end
        the user's tokens to prevent that.
      </p>
    </ConfirmButton>
  );
}

const Presence = ({ state }: { readonly state: PresenceState | undefined }) =>
  state === undefined ? <span className="soft">none</span> : <code>{JSON.stringify(state)}</code>;

function NoParticipants({ room }: { readonly room: Room }) {
  const address = useAddress();
  if (room.total_users_created > 0) return <p className="soft">No one is online right now.</p>;
  return (
    <Empty title="No one has joined yet">
      <p>
        <Link href={address(`/rooms/${room.id}/users`)}>Create a user</Link>, then join from a browser with
        the user's token.
      </p>
    </Empty>
  );
}

/** What happens in a room as it happens, each as one line. */
function EventStream({ roomId }: { readonly roomId: string }) {
  const { items, error } = useStream(roomId);
  const { client } = useLive();
  return (
    <section aria-labelledby="event-stream">
      <h2 id="event-stream">Events of the last hour</h2>
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
    </section>
  );
}
