/** Those of the newest rooms in which somebody is now. */
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { useRooms } from "../rooms/use-rooms.ts";
import { Refusal } from "../ui/error-message.tsx";
import { Table } from "../ui/table.tsx";

const LOOKED_AT = 100;
const REFRESH_MS = 5000;

export function OnlineRooms() {
  const address = useAddress();
  const { data, error } = useRooms({ limit: LOOKED_AT }, REFRESH_MS);
  const online = (data?.rooms ?? []).filter(({ active_participants }) => active_participants > 0);
  return (
    <section aria-labelledby="online-rooms">
      <h2 id="online-rooms">Where somebody is now</h2>
      <Refusal error={error} />
      {online.length === 0 ? (
        <p className="soft">Nobody is in any of the newest rooms right now.</p>
      ) : (
        <Table label="Rooms online" columns={["Room", "Participants"]}>
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
