/** The table of rooms, of which several can be closed, reopened or deleted. */
import type { ListedRoom } from "atrium/server";
import { Link } from "wouter";
import { useKey } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import type { Filters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { Badge } from "../ui/feedback.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { useRoomActions } from "./room-actions.ts";

const COLUMNS = [
  { label: "Name", sort: "name" },
  "Custom ID",
  "State",
  "Online",
  { label: "Last in use", sort: "last_active_at" },
  "Total users",
  "Active time",
  { label: "Created", sort: "created_at" },
];

export interface RoomTableProps {
  readonly rooms: readonly ListedRoom[];
  readonly filters: Filters;
}

export function RoomTable({ rooms, filters }: RoomTableProps) {
  const address = useAddress();
  const key = useKey();
  const selection = useSelection(rooms, ({ id }) => id);
  const actions = useRoomActions();
  return (
    <>
      {rooms.length > 0 && (
        <Table label="Rooms" columns={COLUMNS} {...{ selection, filters }}>
          {rooms.map((room) => (
            <tr key={room.id} data-selected={selection.has(room.id) || undefined}>
              <SelectCell selection={selection} id={room.id} name={room.name} />
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
              <td>
                {room.last_active_at === undefined ? (
                  <span className="soft">never</span>
                ) : (
                  <Time at={room.last_active_at} />
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
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "room", many: "rooms" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("rooms"), key("room"), key("overview")]}
      />
    </>
  );
}
