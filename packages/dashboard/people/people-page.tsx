/** The lists of identities and of groups, of which several can be deleted. */
import type { Group, GroupInput, Identity, IdentityInput } from "atrium/server";
import { Link, useLocation, useParams } from "wouter";
import { chosen, type Filters, useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { Empty } from "../ui/feedback.tsx";
import { NameField, SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { CreatedFilter, FilterSelect, ListFilters } from "../ui/list-filters.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { NAMED, SelectablePage } from "../ui/selectable.tsx";
import { type Column, orDash } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { CustomIdField, IdentityFields, identityColumns } from "./people.tsx";

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
const partOf = ({ get, search, page }: Filters) => ({
  ...page(["name", "created_at"]),
  ...chosen({ search, from: get("from"), to: get("to") }),
});

const CREATED = {
  label: "Created",
  sort: "created_at",
  cell: ({ created_at }: Pick<Identity, "created_at">) => <Time at={created_at} />,
};

const IDENTITY_COLUMNS = [...identityColumns<Identity>((identity) => identity), CREATED];

/** The default leaves out guests of links, which may be many. */
const NO_GUESTS = "person,agent";
const KINDS = {
  [`${NO_GUESTS},guest`]: "With guests",
  person: "People only",
  agent: "Agents only",
  guest: "Guests only",
};

function Identities() {
  const filters = useFilters();
  const part = { ...partOf(filters), kind: filters.get("kind") || NO_GUESTS };
  const identities = useApiQuery(["identities", part], (atrium) => atrium.identities.list(part));
  const { atrium } = useCurrent();
  const empty = (
    <Empty
      filters={filters}
      title="No identities yet"
      create="Create an identity"
      command={["POST", "/identities", { name: "Ada", customId: "ada-1" }]}
    >
      An identity is one of your end users in all rooms, or an agent. The users of a single room are on the
      page of the room, under Users.
    </Empty>
  );
  return (
    <>
      <ListFilters label="Search identities by name or ID" filters={filters}>
        <FilterSelect
          label="Kinds to show"
          filters={filters}
          name="kind"
          all="Without guests"
          options={KINDS}
        />
        <CreatedFilter filters={filters} />
      </ListFilters>
      <SelectablePage
        label="Identities"
        noun={{ one: "identity", many: "identities" }}
        query={identities}
        itemsOf={(data) => data.identities}
        {...NAMED}
        columns={IDENTITY_COLUMNS}
        {...{ filters, empty }}
        actions={[
          {
            label: "Delete",
            done: "deleted",
            consequences:
              "Names, pictures and addresses are erased. The identities leave their groups, and lose their access to rooms. This cannot be undone.",
            isDanger: true,
            isTyped: true,
            run: oneByOne(({ id }) => atrium.identities.delete(id)),
          },
        ]}
        refreshes={[["identities"], ["identity"], ["group"]]}
      />
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
      <ListFilters label="Search groups by name or ID" filters={filters}>
        <CreatedFilter filters={filters} />
      </ListFilters>
      <SelectablePage
        label="Groups"
        noun={{ one: "group", many: "groups" }}
        query={groups}
        itemsOf={(data) => data.groups}
        {...NAMED}
        columns={GROUP_COLUMNS}
        {...{ filters, empty }}
        actions={[
          {
            label: "Delete",
            done: "deleted",
            consequences:
              "The members stay identities, and lose the access that the groups gave them to rooms. This cannot be undone.",
            isDanger: true,
            run: oneByOne(({ id }) => atrium.groups.delete(id)),
          },
        ]}
        refreshes={[["groups"], ["group"], ["identity"]]}
      />
    </>
  );
}

/** Guests come by the link of a room. */
const CREATED_KINDS = ["person", "agent"] as const;

function NewIdentity() {
  const [, go] = useLocation();
  const create = useAction(({ identities }, identity: IdentityInput) => identities.create(identity), {
    toast: ({ name }) => `Identity ${name} created`,
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
    toast: ({ name }) => `Group ${name} created`,
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
