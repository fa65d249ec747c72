/** All rooms: searched, narrowed by date, a page at a time, with who is in them now. */
import { useSearchParams } from "wouter";
import { usePage, withParameter } from "../data/use-page.ts";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { DateFilter } from "./date-filter.tsx";
import { NewRoom } from "./new-room.tsx";
import { RoomTable } from "./room-table.tsx";
import { useRooms } from "./use-rooms.ts";

const REFRESH_MS = 5000;

export function RoomsPage() {
  const { limit, offset, search, searchFor, turnTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const [from, to] = [parameters.get("from") ?? "", parameters.get("to") ?? ""];
  const query = { limit, offset, ...(search && { search }), ...(from && { from }), ...(to && { to }) };
  const { data, error, refetch } = useRooms(query, REFRESH_MS);
  const isNarrowed = search !== "" || from !== "" || to !== "";
  const narrow = (name: string, value: string) =>
    setParameters((known) => withParameter(withParameter(known, "page", ""), name, value), { replace: true });
  return (
    <Page title="Rooms" actions={<NewRoom />}>
      <div className="filters">
        <SearchBox label="Search rooms by name" initial={search} onSearch={searchFor} />
        <DateFilter label="Made from" value={from} onChange={(value) => narrow("from", value)} />
        <DateFilter label="to" value={to} onChange={(value) => narrow("to", value)} />
      </div>
      <Refusal error={error} onRetry={refetch} />
      {data === undefined ? !error && <Loading /> : <RoomTable rooms={data.rooms} />}
      {data?.total === 0 && <NoRooms isNarrowed={isNarrowed} />}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </Page>
  );
}

const NoRooms = ({ isNarrowed }: { readonly isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No room is like that">
      <p>Search for less of the name, or for another time.</p>
    </Empty>
  ) : (
    <Empty title="No rooms yet">
      <p>A room is what your users share. Make one here, or let your back end do it:</p>
      <p>
        <code>atrium.rooms.create({'{ name: "Weekly planning" }'})</code>
      </p>
    </Empty>
  );
