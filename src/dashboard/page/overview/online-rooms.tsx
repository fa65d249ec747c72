/** The rooms with participants, the newest first. */
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { useRooms } from "../rooms/use-rooms.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Table } from "../ui/table.tsx";

const MAX_ROOMS = 20;
const REFRESH_MS = 5000;

export function OnlineRooms() {
  const address = useAddress();
  const { data, error } = useRooms({ limit: MAX_ROOMS, online: true }, REFRESH_MS);
  return (
    <section aria-labelledby="online-rooms">
      <h2 id="online-rooms">Rooms online now</h2>
      <ErrorMessage error={error} />
      {data?.total === 0 && <p className="soft">No one is online right now.</p>}
      {data !== undefined && data.total > 0 && (
        <Table label="List of rooms online" columns={["Room", "Participants"]}>
          {data.rooms.map(({ id, name, active_participants }) => (
            <tr key={id}>
              <th scope="row">
                <Link href={address(`/rooms/${id}`)}>{name}</Link>
              </th>
              <td>{active_participants}</td>
            </tr>
          ))}
        </Table>
      )}
      {data !== undefined && data.total > data.rooms.length && (
        <p>
          <Link className="button plain" href={address("/rooms?show=online")}>
            Show all {data.total} rooms online
          </Link>
        </p>
      )}
    </section>
  );
}
