/** The lists of identities and of groups, of which several can be deleted. */
import type { Group, GroupInput, Identity, IdentityInput } from "atrium/server";
import { Link, useLocation, useParams } from "wouter";
import { chosen, type Filters, useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { Empty, Scrolled } from "../ui/feedback.tsx";
import { DateFilter, NameField, SearchBox, SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { SelectableTable } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { CustomIdField, IdentityFields, identityColumns, orDash } from "./people.tsx";

const TABS = [
  { name: "Identities", path: "" },
  { name: "Groups", path: "/groups" },
];

export default function PeoplePage() {
  const isOfGroups = useParams().part === "groups";
  return (
    <Page title="People" actions={isOfGroups ? <NewGroup /> : <NewIdentity />}>
      <Tabs label="People" base="/people" tabs={TABS} />
      {isOfGroups ? <Groups /> : <Identities />}
    </Page>
  );
}

/** The part of a list that the page's address names. */
const partOf = ({ get, search, scroll }: Filters) => ({
  ...scroll(["name", "created_at"]),
  ...chosen({ search, from: get("from"), to: get("to") }),
});

interface NarrowingProps {
  readonly label: string;
  readonly filters: Filters;
}

const Narrowing = ({ label, filters }: NarrowingProps) => (
  <div className="filters">
    <SearchBox label={label} initial={filters.search} onSearch={filters.searchFor} />
    <DateFilter label="Created from" filters={filters} name="from" />
    <DateFilter label="to" filters={filters} name="to" />
  </div>
);

const CREATED = {
  label: "Created",
  sort: "created_at",
  cell: ({ created_at }: Pick<Identity, "created_at">) => <Time at={created_at} />,
};

const IDENTITY_COLUMNS = [...identityColumns<Identity>((identity) => identity), CREATED];

function Identities() {
  const filters = useFilters();
  const part = partOf(filters);
  const identities = useApiQuery(["identities", part], (atrium) => atrium.identities.list(part));
  const { atrium } = useCurrent();
  const empty = (
    <Empty
      filters={filters}
      title="No identities yet"
      create="Create an identity"
      command={["POST", "/identities", { name: "Ada", customId: "ada-1" }]}
    >
      An identity is one of your end users in all rooms, or an agent.
    </Empty>
  );
  return (
    <>
      <Narrowing label="Search identities by name or ID" filters={filters} />
      <Scrolled query={identities} {...{ filters, empty }}>
        {(data) => (
          <SelectableTable
            label="Identities"
            noun={{ one: "identity", many: "identities" }}
            items={data.identities}
            idOf={({ id }) => id}
            nameOf={({ name }) => name}
            columns={IDENTITY_COLUMNS}
            filters={filters}
            actions={[
              {
                label: "Delete",
                done: "deleted",
                consequences:
                  "Their names, pictures and addresses are erased, they leave their groups, and they lose their access to rooms. This cannot be undone.",
                isDanger: true,
                isTyped: true,
                run: oneByOne(({ id }) => atrium.identities.delete(id)),
              },
            ]}
            refreshes={[["identities"], ["identity"], ["group"]]}
          />
        )}
      </Scrolled>
    </>
  );
}

const GROUP_COLUMNS: readonly Column<Group>[] = [
  { label: "Name", sort: "name", cell: ({ id, name }) => <Link href={`/people/groups/${id}`}>{name}</Link> },
  { label: "Custom ID", cell: ({ custom_id }) => orDash(custom_id) },
  CREATED,
];

function Groups() {
  const filters = useFilters();
  const part = partOf(filters);
  const groups = useApiQuery(["groups", part], (atrium) => atrium.groups.list(part));
  const { atrium } = useCurrent();
  const empty = (
    <Empty
      filters={filters}
      title="No groups yet"
      create="Create a group"
      command={["POST", "/groups", { name: "Designers" }]}
    >
      A group is a set of identities, such as a team.
    </Empty>
  );
  return (
    <>
      <Narrowing label="Search groups by name or ID" filters={filters} />
      <Scrolled query={groups} {...{ filters, empty }}>
        {(data) => (
          <SelectableTable
            label="Groups"
            noun={{ one: "group", many: "groups" }}
            items={data.groups}
            idOf={({ id }) => id}
            nameOf={({ name }) => name}
            columns={GROUP_COLUMNS}
            filters={filters}
            actions={[
              {
                label: "Delete",
                done: "deleted",
                consequences:
                  "Their members stay identities, and lose what the groups allowed them in rooms. This cannot be undone.",
                isDanger: true,
                run: oneByOne(({ id }) => atrium.groups.delete(id)),
              },
            ]}
            refreshes={[["groups"], ["group"], ["identity"]]}
          />
        )}
      </Scrolled>
    </>
  );
}

/** Guests come by the link of a room. */
const CREATED_KINDS = ["person", "agent"] as const;

function NewIdentity() {
  const [, go] = useLocation();
  const create = useAction(({ identities }, identity: IdentityInput) => identities.create(identity), {
    notice: ({ name }) => `Identity ${name} created`,
    refreshes: [["identities"]],
    onDone: ({ id }) => go(`/people/identities/${id}`),
  });
  return (
    <FormDialog
      button={{ variant: "primary", icon: "plus", "data-shortcut": "new", children: "New identity" }}
      title="New identity"
      submitLabel="Create identity"
      action={create}
      toInput={({ name = "", kind, customId = "", email = "", profilePicture = "" }) => ({
        name,
        kind: CREATED_KINDS.find((one) => one === kind) ?? "person",
        ...chosen({ customId, email, profilePicture }),
      })}
    >
      <IdentityFields />
      <SelectField
        label="Kind"
        name="kind"
        options={CREATED_KINDS}
        hint="An agent is a program that takes part in rooms."
      />
    </FormDialog>
  );
}

function NewGroup() {
  const [, go] = useLocation();
  const create = useAction(({ groups }, group: GroupInput) => groups.create(group), {
    notice: ({ name }) => `Group ${name} created`,
    refreshes: [["groups"]],
    onDone: ({ id }) => go(`/people/groups/${id}`),
  });
  return (
    <FormDialog
      button={{ variant: "primary", icon: "plus", "data-shortcut": "new", children: "New group" }}
      title="New group"
      submitLabel="Create group"
      action={create}
      toInput={({ name = "", customId = "" }) => ({ name, ...chosen({ customId }) })}
    >
      <NameField />
      <CustomIdField of={undefined} />
    </FormDialog>
  );
}
