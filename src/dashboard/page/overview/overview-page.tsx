/** The organization's totals, its activity over time, and who is online. */
import type { Overview } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { useRooms } from "../rooms/use-rooms.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Quickstart } from "./quickstart.tsx";
import { Stats } from "./stats.tsx";
import { Usage } from "./usage.tsx";
import { useOverview } from "./use-overview.ts";

/** The rooms with participants, the newest first. */
const MAX_ROOMS = 20;
const REFRESH_MS = 5000;

function OnlineRooms() {
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

export default function OverviewPage() {
  const { data, error, refetch } = useOverview();
  return (
    <Page title="Overview">
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined ? !error && <Loading /> : <Summary overview={data} />}
    </Page>
  );
}

function Summary({ overview }: { readonly overview: Overview }) {
  const address = useAddress();
  return (
    <>
      <Stats
        stats={[
          { label: "Rooms online", value: overview.rooms_online },
          { label: "Participants", value: overview.participants_online },
          { label: "Events (24 h)", value: overview.events_last_day, href: address("/webhooks") },
          { label: "Runs (24 h)", value: overview.runs_last_day, href: address("/workflows") },
          { label: "Total rooms", value: overview.rooms_total, href: address("/rooms") },
          { label: "Total users", value: overview.users_total },
        ]}
      />
      <FirstSteps overview={overview} />
      {overview.first_joined_at === null && <Quickstart />}
      {overview.rooms_total > 0 && (
        <>
          <Usage />
          <OnlineRooms />
        </>
      )}
    </>
  );
}
