/** The table of rooms. */
import type { Room } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Badge } from "../ui/badge.tsx";
import { Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";

const COLUMNS = ["Name", "Custom ID", "State", "Online", "Total users", "Active time", "Created"];

export function RoomTable({ rooms }: { readonly rooms: readonly Room[] }) {
  const address = useAddress();
  if (rooms.length === 0) return null;
  return (
    <Table label="Rooms" columns={COLUMNS}>
      {rooms.map((room) => (
        <tr key={room.id}>
          <th scope="row">
            <Link href={address(`/rooms/${room.id}`)}>{room.name}</Link>
          </th>
          <td>{room.custom_id ?? <span className="soft">–</span>}</td>
          <td>
            <Badge tone={room.state === "active" ? "plain" : "waiting"}>{room.state}</Badge>
          </td>
          <td>
            {room.active_participants > 0 ? (
              <Badge tone="good">{`${room.active_participants} online`}</Badge>
            ) : (
              <span className="soft">–</span>
            )}
          </td>
          <td className="number">{room.total_users_created.toLocaleString("en")}</td>
          <td className="number">{formatDuration(room.duration_seconds)}</td>
          <td>
            <Time at={room.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
