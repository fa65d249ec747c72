/** The organization's members, of whom several can be removed, and its invitations. */

import type { Member } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { ME } from "../data/api.ts";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent, useIsOwner } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmAction, Secret } from "../ui/dialog.tsx";
import { Badge, Paged } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { oneByOne, SelectableTable } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Invitations } from "./invitations.tsx";

export function MembersPart() {
  const { me, atrium } = useCurrent();
  const isOwner = useIsOwner();
  const filters = useFilters();
  const page = filters.page(["name", "email", "role", "joined_at"]);
  const members = useApiQuery(["members", page], ({ organization }) => organization.listMembers(page));
  const isSelf = ({ id }: Member) => id === me.person.id;
  const columns: readonly Column<Member>[] = [
    {
      label: "Name",
      sort: "name",
      cell: (member) => (
        <>
          {member.name} {isSelf(member) && <Badge tone="plain">you</Badge>}
        </>
      ),
    },
    { label: "Email", sort: "email", cell: ({ email }) => email },
    {
      label: "Role",
      sort: "role",
      cell: (member) => (isOwner ? <Role member={member} /> : member.role),
    },
    { label: "Joined", sort: "joined_at", cell: ({ joined_at }) => <Time at={joined_at} /> },
    {
      label: "Actions",
      className: "row-actions",
      cell: (member) => (
        <>
          {isOwner && !isSelf(member) && <PasswordReset member={member} />}
          {(isOwner || isSelf(member)) && <Removal member={member} isSelf={isSelf(member)} />}
        </>
      ),
    },
  ];
  return (
    <>
      <Section id="members" title="Members">
        <Paged query={members} filters={filters} empty={null}>
          {(data) => (
            <SelectableTable
              label="List of members"
              noun={{ one: "member", many: "members" }}
              items={data.members}
              idOf={({ id }) => id}
              nameOf={({ name }) => name}
              // One leaves an organization by oneself, not with others.
              isSelectable={(member) => isOwner && !isSelf(member)}
              {...{ columns, filters }}
              actions={[
                {
                  label: "Remove",
                  done: "removed",
                  consequences: "They lose access to the organization.",
                  isDanger: true,
                  run: oneByOne(({ id }) => atrium.organization.removeMember(id)),
                },
              ]}
              refreshes={[["members"]]}
            />
          )}
        </Paged>
      </Section>
      {isOwner ? <Invitations /> : <p className="soft">Only owners can invite members.</p>}
    </>
  );
}

function Role({ member: { id, name, role: current } }: { readonly member: Member }) {
  const change = useAction(({ organization }, role: Member["role"]) => organization.setRole(id, role), {
    notice: ({ role }) => `${name} is ${role === "owner" ? "an owner" : "a member"} now`,
    refreshes: [["members"], ["invitations"], ME],
    notifiesErrors: true,
  });
  return (
    <SelectField
      label={`Role of ${name}`}
      isLabelHidden
      value={change.isPending ? change.variables : current}
      onChange={(event) => change.mutate(event.currentTarget.value === "owner" ? "owner" : "member")}
    >
      <option value="member">member</option>
      <option value="owner">owner</option>
    </SelectField>
  );
}

/** For a member who forgot their password: a link by which they choose a new one. */
function PasswordReset({ member: { id, name } }: { readonly member: Member }) {
  const create = useAction(({ organization }) => organization.createPasswordLink(id));
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="quiet" aria-label={`Reset password of ${name}`} onClick={() => setOpen(true)}>
        Reset password
      </Button>
      <Confirm
        title={`Reset the password of ${name}?`}
        confirmLabel="Create link"
        action={create}
        isOpen={isOpen && create.data === undefined}
        onClose={() => setOpen(false)}
      >
        <p>
          You get a link by which {name} chooses a new password. The present one works until the link is used;
          then all of their sessions end.
        </p>
      </Confirm>
      <Secret
        title="Link for a new password"
        about={`Send this link to ${name} over a channel that only they read. It works once, within an hour. You will not see it again.`}
        secret={create.data?.url ?? null}
        what="the link"
        onDone={() => {
          setOpen(false);
          create.reset();
        }}
      />
    </>
  );
}

interface RemovalProps {
  readonly member: Member;
  readonly isSelf: boolean;
}

function Removal({ member: { id, name }, isSelf }: RemovalProps) {
  const [, go] = useLocation();
  return (
    <ConfirmAction
      label={isSelf ? "Leave" : "Remove"}
      accessibleName={isSelf ? "Leave organization" : `Remove ${name}`}
      variant="quiet"
      title={isSelf ? "Leave the organization?" : `Remove ${name}?`}
      confirmLabel={isSelf ? "Leave organization" : "Remove member"}
      act={({ organization }) => organization.removeMember(id)}
      options={{
        notice: isSelf ? "You left the organization" : "Member removed",
        refreshes: [["members"], ME],
        onDone: () => isSelf && go("~/dashboard"),
      }}
    >
      <p>{isSelf ? "You lose" : `${name} loses`} access to the organization.</p>
    </ConfirmAction>
  );
}
