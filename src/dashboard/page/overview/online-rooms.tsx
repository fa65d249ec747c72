/** The newest rooms with participants. */
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { useRooms } from "../rooms/use-rooms.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Table } from "../ui/table.tsx";

const MAX_ROOMS = 100;
const REFRESH_MS = 5000;

export function OnlineRooms() {
  const address = useAddress();
  const { data, error } = useRooms({ limit: MAX_ROOMS }, REFRESH_MS);
  const online = (data?.rooms ?? []).filter(({ active_participants }) => active_participants > 0);
  return (
    <section aria-labelledby="online-rooms">
      <h2 id="online-rooms">Rooms online now</h2>
      <ErrorMessage error={error} />
      {online.length === 0 ? (
        <p className="soft">No one is online right now.</p>
      ) : (
        <Table label="List of rooms online" columns={["Room", "Participants"]}>
          {online.map(({ id, name, active_participants }) => (
            <tr key={id}>
              <th scope="row">
                <Link href={address(`/rooms/${id}`)}>{name}</Link>
              </th>
              <td>{active_participants}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
