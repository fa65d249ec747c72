/** The list of rooms, of which several can be closed, reopened or deleted. */
import type { ListedRoom, Room, RoomSearch } from "atrium/server";
import { Link } from "wouter";
import { chosen, type Filters, useFilters } from "../data/filters.ts";
import { useCurrent } from "../data/organization.tsx";
import { type BulkAction, oneByOne } from "../ui/bulk-dialog.tsx";
import { Badge, Empty } from "../ui/feedback.tsx";
import { CreatedFilter, FilterSelect, ListFilters } from "../ui/list-filters.tsx";
import { Page } from "../ui/page.tsx";
import { NAMED, SelectablePage } from "../ui/selectable.tsx";
import { type Column, orDash } from "../ui/table.tsx";
import { formatDuration, OptionalTime, Time } from "../ui/time.tsx";
import { NewRoom, useRooms } from "./rooms.tsx";

const REFRESH_MS = 5000;

/** Filters of the list, by their values in the page's address. */
const SHOWN: Readonly<Record<string, RoomSearch>> = {
  online: { online: true },
  active: { state: "active" },
  closed: { state: "closed" },
};
const LABELS = { online: "With users online", active: "Open", closed: "Closed" };

const COLUMNS: readonly Column<ListedRoom>[] = [
  {
    label: "Name",
    sort: "name",
    cell: ({ id, name, state }) => (
      <>
        <Link href={`/rooms/${id}`}>{name}</Link> {state === "closed" && <Badge tone="waiting">closed</Badge>}
      </>
    ),
  },
  { label: "Custom ID", cell: (room) => orDash(room.custom_id) },
  {
    label: "Online",
    cell: ({ active_participants: online }) =>
      online > 0 ? <Badge tone="good">{`${online} online`}</Badge> : <span className="soft">–</span>,
  },
  { label: "Last in use", sort: "last_active_at", cell: (room) => <OptionalTime at={room.last_active_at} /> },
  {
    label: "Total users",
    className: "number",
    cell: (room) => room.total_users_created.toLocaleString("en"),
  },
  { label: "Active time", className: "number", cell: (room) => formatDuration(room.duration_seconds) },
  { label: "Created", sort: "created_at", cell: (room) => <Time at={room.created_at} /> },
];

export default function RoomsPage() {
  const filters = useFilters();
  const { get, search } = filters;
  const rooms = useRooms(
    {
      ...filters.page(["name", "last_active_at", "created_at"]),
      ...SHOWN[get("show")],
      ...chosen({ search, from: get("from"), to: get("to") }),
    },
    REFRESH_MS,
  );
  const actions = useRoomActions();
  return (
    <Page title="Rooms" actions={<NewRoom />}>
      <ListFilters label="Search rooms by name" filters={filters}>
        <FilterSelect label="Rooms to show" filters={filters} name="show" all="All rooms" options={LABELS} />
        <CreatedFilter filters={filters} />
      </ListFilters>
      <div className="rooms-list">
        <SelectablePage
          label="Rooms"
          noun={{ one: "room", many: "rooms" }}
          query={rooms}
          itemsOf={(data) => data.rooms}
          {...NAMED}
          columns={COLUMNS}
          {...{ filters, actions }}
          refreshes={[["rooms"], ["room"], ["overview"]]}
          empty={<NoRooms filters={filters} />}
        />
      </div>
    </Page>
  );
}

function NoRooms({ filters }: { readonly filters: Filters }) {
  return (
    <Empty
      title="No rooms yet"
      filters={filters}
      create="Create a room"
      command={["POST", "/rooms", { name: "Weekly planning" }]}
    >
      A room is a space that your users share.
    </Empty>
  );
}

function useRoomActions(): readonly BulkAction<ListedRoom>[] {
  const { rooms } = useCurrent().atrium;
  const set = (state: Room["state"]) => (room: ListedRoom) => rooms.update(room.id, { state });
  return [
    {
      label: "Close",
      done: "closed",
      consequences:
        "Everyone in them is disconnected, and no one can join until they are reopened. They keep all their data.",
      applies: ({ state }) => state === "active",
      run: oneByOne(set("closed")),
      undo: set("active"),
    },
    {
      label: "Reopen",
      done: "reopened",
      consequences: "Their users can join again.",
      applies: ({ state }) => state === "closed",
      run: oneByOne(set("active")),
      undo: set("closed"),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their users, stores, documents, comments and files are deleted with them, and all participants are disconnected. This cannot be undone.",
      isDanger: true,
      isTyped: true,
      run: oneByOne(({ id }) => rooms.delete(id)),
    },
  ];
}
