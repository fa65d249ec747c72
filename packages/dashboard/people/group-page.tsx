/** A group and its members, of whom several can be removed. */
import type { Group, GroupMember, GroupUpdateInput } from "atrium/server";
import { Link, useLocation, useParams } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { Identifier } from "../ui/button.tsx";
import { ActionButton, ConfirmAction } from "../ui/dialog.tsx";
import { Empty, Loaded, Paged } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Page, Section } from "../ui/page.tsx";
import { SelectableTable } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import {
  CustomIdField,
  FoundPicker,
  identityColumns,
  MEMBERSHIPS,
  removalOf,
  useAddition,
} from "./people.tsx";

const ABOVE = <Link href="/people/groups">Groups</Link>;

export default function GroupPage() {
  const { groupId = "" } = useParams();
  const query = useApiQuery(["group", groupId], ({ groups }) => groups.get(groupId));
  return (
    <Loaded query={query} shape="page" above={ABOVE}>
      {(group) => (
        <Page
          key={group.id}
          title={group.name}
          above={ABOVE}
          beside={
            <>
              <Identifier value={group.id} what="the group's ID" />
              <span className="soft">
                {group.custom_id && `Custom ID ${group.custom_id} · `}Created <Time at={group.created_at} />
              </span>
            </>
          }
          actions={<GroupActions group={group} />}
        >
          <Members group={group} />
        </Page>
      )}
    </Loaded>
  );
}

interface GroupProps {
  readonly group: Group;
}

function GroupActions({ group }: GroupProps) {
  const { id, name, custom_id } = group;
  const [, go] = useLocation();
  const edit = useAction(({ groups }, changes: GroupUpdateInput) => groups.update(id, changes), {
    toast: "Group saved",
    undo: ({ groups }) => groups.update(id, { name, customId: custom_id ?? null }),
    refreshes: [["group", id], ["groups"], ["identity"]],
  });
  return (
    <>
      <FormDialog
        button={{ children: "Edit" }}
        title="Edit group"
        submitLabel="Save"
        action={edit}
        toInput={({ name: next = "", customId }) => ({ name: next, customId: customId || null })}
      >
        <NameField defaultValue={name} />
        <CustomIdField of={group} />
      </FormDialog>
      <ConfirmAction
        label="Delete"
        title={`Delete ${name}?`}
        confirmLabel="Delete group"
        act={({ groups }) => groups.delete(id)}
        options={{
          toast: "Group deleted",
          refreshes: [["groups"], ["identity"]],
          onDone: () => go("/people/groups", { replace: true }),
        }}
      >
        <p>
          The members stay identities, and lose the access that the group gave them to rooms. This cannot be
          undone.
        </p>
      </ConfirmAction>
    </>
  );
}

function Members({ group }: GroupProps) {
  const { id } = group;
  const filters = useFilters();
  const part = filters.page();
  const members = useApiQuery(["group", id, "members", part], ({ groups }) => groups.listMembers(id, part));
  const { groups } = useCurrent().atrium;
  const add = useAddition();
  const columns: readonly Column<GroupMember>[] = [
    ...identityColumns<GroupMember>(({ identity }) => identity),
    { label: "Added", cell: ({ added_at }) => <Time at={added_at} /> },
    {
      label: "Actions",
      className: "row-actions",
      cell: ({ identity }) => (
        <ActionButton
          label="Remove"
          accessibleName={`Remove ${identity.name}`}
          {...removalOf({ identity, group })}
        />
      ),
    },
  ];
  const empty = (
    <Empty
      title="No members yet"
      create="Add a member"
      command={["PUT", `/groups/${id}/members/IDENTITY_ID`]}
    >
      Identities are members of a group, and can be in many.
    </Empty>
  );
  return (
    <Section
      id="members"
      title="Members"
      beside={
        <FoundPicker
          kind="identities"
          icon="plus"
          label="Add a member by name"
          onChoose={(found) => add.mutate({ identity: { id: found.id, name: found.label }, group })}
        />
      }
    >
      <Paged query={members} {...{ filters, empty }}>
        {(data) => (
          <SelectableTable
            label="List of members"
            noun={{ one: "member", many: "members" }}
            items={data.members}
            idOf={({ identity }) => identity.id}
            nameOf={({ identity }) => identity.name}
            columns={columns}
            actions={[
              {
                label: "Remove",
                done: "removed",
                consequences: "The members leave the group, and stay identities.",
                run: oneByOne(({ identity }) => groups.removeMember(id, identity.id)),
                undo: ({ identity }) => groups.addMember(id, identity.id),
              },
            ]}
            refreshes={MEMBERSHIPS}
          />
        )}
      </Paged>
    </Section>
  );
}
