/** The list of rooms, with search and date filters. */
import type { RoomSearch } from "atrium/server";
import { useSearchParams } from "wouter";
import { usePage, withParameter } from "../data/use-page.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { DateFilter } from "./date-filter.tsx";
import { NewRoom } from "./new-room.tsx";
import { RoomTable } from "./room-table.tsx";
import { useRooms } from "./use-rooms.ts";

const REFRESH_MS = 5000;

/** What the list can be narrowed to, by the value in the page's address. */
const SHOWN: Readonly<Record<string, { readonly label: string; readonly filter: RoomSearch }>> = {
  "": { label: "All rooms", filter: {} },
  online: { label: "With users online", filter: { online: true } },
  active: { label: "Open", filter: { state: "active" } },
  closed: { label: "Closed", filter: { state: "closed" } },
};

export function RoomsPage() {
  const { limit, offset, search, searchFor, goTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const [from, to] = [parameters.get("from") ?? "", parameters.get("to") ?? ""];
  const show = parameters.get("show") ?? "";
  const { filter } = SHOWN[show] ?? { filter: {} };
  const query = {
    ...{ limit, offset, ...filter },
    ...(search && { search }),
    ...(from && { from }),
    ...(to && { to }),
  };
  const { data, error, refetch } = useRooms(query, REFRESH_MS);
  const isFiltered = [search, from, to, show].some((value) => value !== "");
  const setFilter = (name: string, value: string) =>
    setParameters((known) => withParameter(withParameter(known, "page", ""), name, value), { replace: true });
  return (
    <Page title="Rooms" actions={<NewRoom />}>
      <div className="filters">
        <SearchBox label="Search rooms by name" initial={search} onSearch={searchFor} />
        <SelectField
          label="Rooms to show"
          isLabelHidden
          value={show}
          onChange={(event) => setFilter("show", event.currentTarget.value)}
        >
          {Object.entries(SHOWN).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <DateFilter label="Created from" value={from} onChange={(value) => setFilter("from", value)} />
        <DateFilter label="to" value={to} onChange={(value) => setFilter("to", value)} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined ? !error && <Loading /> : <RoomTable rooms={data.rooms} />}
      {data?.total === 0 && <NoRooms isFiltered={isFiltered} />}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
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
