/** Where the person is signed in, and the ends of these sessions. */
import type { OwnSignIn, OwnSignIns } from "@atrium/contract/rest/people.ts";
import { callDashboard } from "../data/api.ts";
import { useApiQuery } from "../data/organization.tsx";
import { ActionButton, ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Loaded } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { HourlyTime, Time } from "../ui/time.tsx";

const SESSIONS = ["sessions"];
const nameOf = ({ browser }: OwnSignIn): string => browser ?? "Unknown browser";

const COLUMNS: readonly Column<OwnSignIn>[] = [
  {
    label: "Browser",
    cell: (session) => (
      <>
        {nameOf(session)} {session.is_current && <Badge tone="plain">this one</Badge>}
      </>
    ),
  },
  { label: "Signed in", cell: ({ created_at }) => <Time at={created_at} /> },
  { label: "Last used", cell: ({ last_used_at }) => <HourlyTime at={last_used_at} /> },
  {
    label: "Actions",
    className: "row-actions",
    cell: (session) =>
      !session.is_current && (
        <ActionButton
          label="Sign out"
          accessibleName={`Sign out ${nameOf(session)}`}
          act={() => callDashboard("POST", `sessions/${session.id}/end`, {})}
          options={{ toast: `${nameOf(session)} is signed out`, refreshes: [SESSIONS] }}
        />
      ),
  },
];

export function Sessions() {
  const sessions = useApiQuery(SESSIONS, () => callDashboard<OwnSignIns>("GET", "sessions"));
  const hasOthers = sessions.data?.sessions.some((session) => !session.is_current) === true;
  return (
    <Section
      id="sessions"
      title="Where you are signed in"
      about="A session ends within 10 seconds after you sign it out, and by itself 30 days after its last use."
      beside={hasOthers && <EndingOthers />}
    >
      <Loaded query={sessions}>
        {(data) => <Table label="Sessions" items={data.sessions} idOf={({ id }) => id} columns={COLUMNS} />}
      </Loaded>
    </Section>
  );
}

const EndingOthers = () => (
  <ConfirmAction
    label="Sign out everywhere else"
    title="Sign out everywhere else?"
    confirmLabel="Sign out"
    act={() => callDashboard<{ ended: number }>("POST", "sessions/end-others", {})}
    options={{
      toast: ({ ended }) => (ended === 1 ? "One other session ended" : `${ended} other sessions ended`),
      refreshes: [SESSIONS],
    }}
  >
    <p>All of your sessions end but this one. Change your password as well if someone else may know it.</p>
  </ConfirmAction>
);
