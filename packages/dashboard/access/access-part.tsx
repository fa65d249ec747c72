/**
 * Access to a room: its default, groups and identities, the resulting access of one of them, and links for
 * guests.
 */
import type { AtriumServer, Room, RoomAccess, RoomAccessInput } from "atrium/server";
import { useState } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { useFound } from "../people/people.tsx";
import { allAtOnce } from "../ui/bulk-dialog.tsx";
import { type Found, Picker } from "../ui/combobox.tsx";
import { ActionButton } from "../ui/dialog.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { NAMED, SelectableTable } from "../ui/selectable.tsx";
import { type Column, Pager } from "../ui/table.tsx";
import { AccessSelect, type Granted, isBan, PRESET_NAMES, permissionsOf, toastOf } from "./access-select.tsx";
import { Decision } from "./decision.tsx";
import { Links } from "./links.tsx";

interface AccessPartProps {
  readonly room: Pick<Room, "id" | "state">;
}

export function AccessPart({ room }: AccessPartProps) {
  const { id: roomId } = room;
  const filters = useFilters();
  const part = filters.page();
  const key = ["room", roomId, "access"];
  const query = useApiQuery([...key, part], (atrium) => atrium.getRoomAccess(roomId, part));
  return (
    <>
      <Loaded query={query} shape="list">
        {(access) => (
          <>
            <Section
              id="default"
              title="Default"
              about="The access of identities without an entry of their own or of their groups. Users without an identity keep their role."
            >
              <AccessSelect
                kind="default"
                of="every identity"
                granted={access.default_accesses}
                save={(atrium, granted) => atrium.updateRoomAccess(roomId, changeOf(DEFAULT, granted))}
                refreshes={[key]}
              />
            </Section>
            <Section id="entries" title="Groups and identities">
              <Addition roomId={roomId} />
              <Entries roomId={roomId} access={access} />
              {access.total === 0 && (
                <Empty
                  title="No entries yet"
                  create="Add a person or group"
                  command={["PUT", `/rooms/${roomId}/access`, { groupsAccesses: { GROUP_ID: "editor" } }]}
                >
                  An identity's own entry goes before those of its groups, and these before the default.
                </Empty>
              )}
              <Pager filters={filters} total={access.total} />
            </Section>
          </>
        )}
      </Loaded>
      <Decision roomId={roomId} />
      <Links room={room} />
    </>
  );
}

interface Subject {
  readonly kind: "default" | "group" | "identity";
  readonly id: string;
}

interface Entry extends Subject {
  readonly kind: "group" | "identity";
  readonly name: string;
  readonly granted: Granted;
}

const DEFAULT: Subject = { kind: "default", id: "" };

/** The change that sets an entry; null removes it. */
function changeOf({ kind, id }: Subject, granted: Granted | null): RoomAccessInput {
  if (kind === "identity") return { identitiesAccesses: { [id]: granted } };
  const permissions = granted !== null && isBan(granted) ? [] : granted;
  return kind === "group"
    ? { groupsAccesses: { [id]: permissions } }
    : { defaultAccesses: permissions ?? [] };
}

const entriesOf = ({ groups_accesses, identities_accesses }: RoomAccess): Entry[] => [
  ...groups_accesses.map(({ permissions, ...group }) => ({
    ...group,
    kind: "group" as const,
    granted: permissions,
  })),
  ...identities_accesses.map(({ permissions, ...identity }) => ({
    ...identity,
    kind: "identity" as const,
    granted: permissions,
  })),
];

const PATHS = { group: "/people/groups", identity: "/people/identities" };

interface EntriesProps {
  readonly roomId: string;
  readonly access: RoomAccess;
}

function Entries({ roomId, access }: EntriesProps) {
  const { atrium } = useCurrent();
  const refreshes = [["room", roomId, "access"]];
  const columns: readonly Column<Entry>[] = [
    { label: "Name", cell: ({ kind, id, name }) => <Link href={`${PATHS[kind]}/${id}`}>{name}</Link> },
    { label: "Kind", cell: ({ kind }) => <Badge tone="plain">{kind}</Badge> },
    {
      label: "Access",
      cell: ({ kind, name, granted, ...entry }) => (
        <AccessSelect
          kind={kind}
          of={name}
          granted={granted}
          save={(api, next) => api.updateRoomAccess(roomId, changeOf({ kind, ...entry }, next))}
          refreshes={refreshes}
        />
      ),
    },
    {
      label: "Actions",
      className: "row-actions",
      cell: (entry) => (
        <ActionButton
          label="Remove"
          accessibleName={`Remove ${entry.name}`}
          act={(api) => api.updateRoomAccess(roomId, changeOf(entry, null))}
          options={{
            toast: toastOf(`Access of ${entry.name} removed`),
            undo: (api) => api.updateRoomAccess(roomId, changeOf(entry, entry.granted)),
            refreshes,
          }}
        />
      ),
    },
  ];
  return (
    <SelectableTable
      label="List of access"
      noun={{ one: "entry", many: "entries" }}
      items={entriesOf(access)}
      {...NAMED}
      columns={columns}
      actions={[
        {
          label: "Remove",
          done: "removed",
          consequences: "Access then follows from groups and the default, at once.",
          run: allAtOnce(async (entries) => {
            await atrium.updateRoomAccess(roomId, {
              groupsAccesses: nothingFor(entries, "group"),
              identitiesAccesses: nothingFor(entries, "identity"),
            });
            return new Map();
          }),
          undo: (entry) => atrium.updateRoomAccess(roomId, changeOf(entry, entry.granted)),
        },
      ]}
      refreshes={refreshes}
    />
  );
}

const nothingFor = (entries: readonly Entry[], kind: Entry["kind"]): Readonly<Record<string, null>> =>
  Object.fromEntries(entries.filter((entry) => entry.kind === kind).map(({ id }) => [id, null]));

const PAGE = { limit: 100 };

/** Whether a group or an identity has an entry, on whatever page. */
async function hasEntry(atrium: AtriumServer, roomId: string, id: string): Promise<boolean> {
  let after: string | null = null;
  do {
    const access: Awaited<ReturnType<AtriumServer["getRoomAccess"]>> = await atrium.getRoomAccess(
      roomId,
      after === null ? PAGE : { ...PAGE, after },
    );
    if (entriesOf(access).some((entry) => entry.id === id)) return true;
    after = access.cursor;
  } while (after !== null);
  return false;
}

interface FoundSubject extends Found {
  readonly kind: "group" | "identity";
}

/** Groups before identities, each by name. */
function useSubjects(search: string) {
  const groups = useFound("groups", search);
  const identities = useFound("identities", search);
  const isSearching = groups.isLoading || identities.isLoading;
  if (groups.data === undefined || identities.data === undefined) return { items: undefined, isSearching };
  const items: FoundSubject[] = [
    ...groups.data.map((found) => ({ ...found, kind: "group" as const })),
    ...identities.data.map((found) => ({ ...found, kind: "identity" as const })),
  ];
  return { items, isSearching };
}

/** Gives a group or an identity an entry. Refuses one that has an entry, which would be lost. */
function Addition({ roomId }: Pick<EntriesProps, "roomId">) {
  const [text, setText] = useState("");
  const [preset, setPreset] = useState<(typeof PRESET_NAMES)[number]>("viewer");
  const found = useSubjects(text);
  const add = useAction(
    async (atrium, subject: FoundSubject) => {
      if (await hasEntry(atrium, roomId, subject.id))
        throw new Error(`${subject.label} has an entry already`);
      await atrium.updateRoomAccess(roomId, changeOf(subject, permissionsOf(preset)));
      return `${subject.label} added as ${preset}`;
    },
    {
      toast: (done) => done,
      undo: (atrium, _, subject) => atrium.updateRoomAccess(roomId, changeOf(subject, null)),
      refreshes: [["room", roomId, "access"]],
      notifiesErrors: true,
    },
  );
  return (
    <div className="filters">
      <Picker
        icon="plus"
        label="Add a person or group by name"
        {...{ text, ...found }}
        onText={setText}
        onChoose={(subject) => add.mutate(subject)}
      />
      <SelectField
        label="Access of those who are added"
        isLabelHidden
        value={preset}
        onChange={({ currentTarget: { value } }) =>
          setPreset(PRESET_NAMES.find((name) => name === value) ?? preset)
        }
        options={PRESET_NAMES.map((name) => [name, `as ${name}`])}
      />
    </div>
  );
}
