/** The permissions of an identity in a room, and the entries that decide them. */
import type { AccessDecision, Group } from "atrium/server";
import { Fragment } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { FoundPicker } from "../people/people.tsx";
import { Badge, type BadgeProps, Loaded } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { nameOf } from "./access-select.tsx";

interface DecisionProps {
  readonly roomId: string;
}

/** The page's address names the identity. */
export function Decision({ roomId }: DecisionProps) {
  const { get, set } = useFilters();
  const identityId = get("check");
  return (
    <Section
      id="decision"
      title="Access of an identity"
      beside={
        <FoundPicker
          kind="identities"
          icon="search"
          label="Check an identity by name"
          onChoose={({ id }) => set("check", id)}
        />
      }
    >
      {identityId === "" ? (
        <p className="soft">
          Choose an identity to see its access to this room, and the entries that decide it.
        </p>
      ) : (
        <Reasons roomId={roomId} identityId={identityId} />
      )}
    </Section>
  );
}

interface ReasonsProps extends DecisionProps {
  readonly identityId: string;
}

type Source = AccessDecision["sources"][number];

const TONES: Readonly<Record<Source["level"], BadgeProps["tone"]>> = {
  none: "bad",
  read: "plain",
  suggest: "plain",
  write: "good",
};

function Reasons({ roomId, identityId }: ReasonsProps) {
  const query = useApiQuery(
    ["room", roomId, "access", "check", identityId],
    async (atrium) => {
      const [identity, { groups }, decision] = await Promise.all([
        atrium.identities.get(identityId),
        atrium.identities.listGroups(identityId),
        atrium.checkRoomAccess(roomId, identityId),
      ]);
      return { identity, groups, decision };
    },
    { placeholderData: () => undefined },
  );
  return (
    <Loaded query={query} shape="list">
      {({ identity, groups, decision: { permissions, sources } }) => (
        <>
          <p>
            <Link href={`/people/identities/${identity.id}`}>{identity.name}</Link>{" "}
            <Badge tone={permissions.length === 0 ? "bad" : "good"}>{nameOf(permissions)}</Badge>{" "}
            <code className="soft">{permissions.join(" ")}</code>
          </p>
          <Table
            label="Access by resource"
            items={sources}
            idOf={({ resource }) => resource}
            columns={columnsFor(groups)}
          />
          <p className="soft">Any level above none reads the whole room.</p>
        </>
      )}
    </Loaded>
  );
}

const columnsFor = (groups: readonly Group[]): readonly Column<Source>[] => [
  { label: "Resource", cell: ({ resource }) => resource },
  { label: "Level", cell: ({ level }) => <Badge tone={TONES[level]}>{level}</Badge> },
  { label: "Why", cell: (source) => <Why source={source} groups={groups} /> },
];

const WHY = {
  identity: "Its own entry",
  default: "The default of the room",
};

interface WhyProps {
  readonly source: Source;
  readonly groups: readonly Group[];
}

function Why({ source: { source, group_ids = [] }, groups }: WhyProps) {
  if (source === null) return "No entry allows it";
  if (source !== "groups") return WHY[source];
  return groups
    .filter(({ id }) => group_ids.includes(id))
    .map(({ id, name }, index) => (
      <Fragment key={id}>
        {index > 0 && ", "}
        <Link href={`/people/groups/${id}`}>{name}</Link>
      </Fragment>
    ));
}
