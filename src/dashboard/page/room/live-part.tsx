/** Who is in the room now, and what they show of themselves. */
import { useQuery } from "@tanstack/react-query";
import type { PresenceState, Room, User } from "atrium/server";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useAddress, useCurrent, useKey } from "../data/organization.tsx";
import { Figures } from "../overview/stats.tsx";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Table } from "../ui/table.tsx";
import { Time, tellDuration } from "../ui/time.tsx";
import { JoinBar } from "./join-bar.tsx";
import { useLive } from "./live.tsx";
import { LIVE_MS, useRoom } from "./use-room.ts";

const LOOKED_AT = 100;

type Presences = Readonly<Record<string, PresenceState>>;

/** Told by the room while one is in it, else asked for every two seconds. */
function usePresences(roomId: string): Presences {
  const { atrium } = useCurrent();
  const key = useKey();
  const { client } = useLive();
  const [told, setTold] = useState<Presences>({});
  const { data } = useQuery({
    queryKey: key("room", roomId, "presence"),
    queryFn: () => atrium.getPresence(roomId),
    refetchInterval: LIVE_MS,
    enabled: client === null,
  });
  useEffect(
    () => client?.presence.sync("*", () => setTold(Object.fromEntries(client.presence.getStates()))),
    [client],
  );
  return client === null ? (data ?? {}) : told;
}

export function LivePart({ room }: { readonly room: Room }) {
  const { data, error } = useRoom(room.id, { limit: LOOKED_AT });
  const presences = usePresences(room.id);
  const online = (data?.users ?? []).filter(({ status }) => status === "online");
  const unseen = room.active_participants - online.length;
  return (
    <>
      <Figures
        figures={[
          { label: "Online", value: room.active_participants },
          { label: "Users ever", value: room.total_users_created },
          { label: "In use", value: tellDuration(room.duration_seconds) },
        ]}
      />
      <JoinBar isClosed={room.state === "closed"} />
      <Refusal error={error} />
      {online.length > 0 && <People users={online} presences={presences} />}
      {unseen > 0 && data && data.usersTotal > LOOKED_AT && (
        <p className="soft">
          And {unseen} more, who are not among the newest {LOOKED_AT} users.
        </p>
      )}
      {data && online.length === 0 && unseen === 0 && <Nobody room={room} />}
    </>
  );
}

interface PeopleProps {
  readonly users: readonly User[];
  readonly presences: Presences;
}

function People({ users, presences }: PeopleProps) {
  const address = useAddress();
  return (
    <Table label="Participants" columns={["Participant", "Role", "Came", "Shows"]}>
      {users.map((user) => (
        <tr key={user.id}>
          <th scope="row">
            <Link href={address(`/rooms/${user.room_id}/users/${user.id}`)}>{user.name}</Link>
          </th>
          <td>{user.role}</td>
          <td>{user.joined_at && <Time at={user.joined_at} />}</td>
          <td className="json">
            <Shown state={presences[user.id]} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const Shown = ({ state }: { readonly state: PresenceState | undefined }) =>
  state === undefined ? <span className="soft">nothing</span> : <code>{JSON.stringify(state)}</code>;

function Nobody({ room }: { readonly room: Room }) {
  const address = useAddress();
  if (room.total_users_created > 0) return <p className="soft">Nobody is here right now.</p>;
  return (
    <Empty title="Nobody has been here yet">
      <p>
        Make a user under <Link href={address(`/rooms/${room.id}/users`)}>Users</Link>, and let a browser join
        with its token.
      </p>
    </Empty>
  );
}
