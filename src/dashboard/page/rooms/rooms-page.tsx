/** The list of rooms, with search, state and date filters, and actions on several of them. */
import type { RoomSearch } from "atrium/server";
import { chosen, sortedBy, useFilters } from "../data/use-filters.ts";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect, SearchBox } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/table.tsx";
import { DateFilter } from "./date-filter.tsx";
import { NewRoom } from "./new-room.tsx";
import { RoomTable } from "./room-table.tsx";
import { useRooms } from "./use-rooms.ts";

const REFRESH_MS = 5000;

/** What the list can be narrowed to, by the value in the page's address. */
const SHOWN: Readonly<Record<string, RoomSearch>> = {
  online: { online: true },
  active: { state: "active" },
  closed: { state: "closed" },
};
const LABELS = { online: "With users online", active: "Open", closed: "Closed" };

const SORTS = ["name", "last_active_at", "created_at"] as const;

export default function RoomsPage() {
  const filters = useFilters();
  const { get, set, search, searchFor, sort, limit, offset, isNarrowed } = filters;
  const query = {
    ...{ limit, offset, ...SHOWN[get("show")] },
    ...chosen({ search, from: get("from"), to: get("to") }),
    ...sortedBy(sort, SORTS),
  };
  const { data, error, refetch } = useRooms(query, REFRESH_MS);
  return (
    <Page title="Rooms" actions={<NewRoom />}>
      <div className="filters">
        <SearchBox label="Search rooms by name" initial={search} onSearch={searchFor} />
        <FilterSelect label="Rooms to show" filters={filters} name="show" all="All rooms" options={LABELS} />
        <DateFilter label="Created from" value={get("from")} onChange={(value) => set("from", value)} />
        <DateFilter label="to" value={get("to")} onChange={(value) => set("to", value)} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined ? !error && <Loading /> : <RoomTable rooms={data.rooms} filters={filters} />}
      {data?.total === 0 && <NoRooms isFiltered={isNarrowed} />}
      {data && <Pager filters={filters} total={data.total} />}
    </Page>
  );
}

const NoRooms = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching rooms">
      <p>Try another name, another date range, or all rooms.</p>
    </Empty>
  ) : (
    <Empty title="No rooms yet">
      <p>A room is a space your users share. Create one here or from your back end:</p>
      <p>
        <code>atrium.rooms.create({'{ name: "Weekly planning" }'})</code>
      </p>
    </Empty>
  );
