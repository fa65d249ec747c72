/** The organization's totals, its activity over time, and who is online. */
import type { Overview } from "atrium/server";
import { useAddress } from "../data/use-address.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { OnlineRooms } from "./online-rooms.tsx";
import { Quickstart } from "./quickstart.tsx";
import { Stats } from "./stats.tsx";
import { Usage } from "./usage.tsx";
import { useOverview } from "./use-overview.ts";

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
