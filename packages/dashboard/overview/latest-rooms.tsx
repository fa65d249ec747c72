/** The rooms in use, and behind them those that were in use last. */
import type { ListedRoom } from "atrium/server";
import { Link } from "wouter";
import { useApiQuery } from "../data/organization.tsx";
import { Faces } from "../people/faces.tsx";
import { useRooms } from "../rooms/rooms.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { OptionalTime } from "../ui/time.tsx";

const REFRESH_MS = 5000;
const MAX_ROOMS = 10;
const MAX_FACES = 4;

/** The people in a room, read again when their number changes. */
function Here({ id, active_participants: online }: ListedRoom) {
  const { data: people = [] } = useApiQuery(
    ["room", id, "faces", online],
    async ({ users }) => (await users.list(id, { online: true, limit: MAX_FACES })).users,
    { staleTime: Number.POSITIVE_INFINITY },
  );
  return (
    <span className="here">
      {people.length > 0 && <Faces people={people.slice(0, online)} total={online} />}
      <span>{`${online.toLocaleString("en")} here`}</span>
    </span>
  );
}

const COLUMNS: readonly Column<ListedRoom>[] = [
  {
    label: "Room",
    cell: ({ id, name, custom_id }) => (
      <>
        <Link href={`/rooms/${id}`}>{name}</Link>
        {custom_id && (
          <>
            {" "}
            <span className="soft">{custom_id}</span>
          </>
        )}
      </>
    ),
  },
  { label: "People", cell: (room) => room.active_participants > 0 && <Here {...room} /> },
  {
    label: "Last in use",
    cell: ({ active_participants: online, last_active_at: at }) =>
      online > 0 ? "now" : <OptionalTime at={at} />,
  },
];

interface LatestRoomsProps {
  readonly roomsOnline: number;
  readonly peopleOnline: number;
}

export function LatestRooms({ roomsOnline, peopleOnline }: LatestRoomsProps) {
  const { data, error } = useRooms({ limit: MAX_ROOMS, sort: "-last_active_at" }, REFRESH_MS);
  const people = `${peopleOnline.toLocaleString("en")} ${peopleOnline === 1 ? "person" : "people"}`;
  const rooms = `${roomsOnline.toLocaleString("en")} ${roomsOnline === 1 ? "room" : "rooms"}`;
  return (
    <Section
      id="latest-rooms"
      title="Rooms"
      beside={
        <span className="soft">
          {roomsOnline === 0 ? "No one is online right now." : `${people} online in ${rooms}`}
        </span>
      }
    >
      <ErrorMessage error={error} />
      {data && (
        <Table label="List of rooms last in use" items={data.rooms} idOf={({ id }) => id} columns={COLUMNS} />
      )}
      {roomsOnline > MAX_ROOMS && (
        <p>
          <Link className="button plain" href="/rooms?show=online">
            Show all {roomsOnline.toLocaleString("en")} rooms online
          </Link>
        </p>
      )}
    </Section>
  );
}
