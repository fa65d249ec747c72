/** The organization's members and invitations. */
import type { Member } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";
import { useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmButton } from "../ui/confirm.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Secret } from "../ui/secret.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { SelectionBar } from "../ui/selection-bar.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Invitations } from "./invitations.tsx";
import {
  useCreatePasswordLink,
  useMemberActions,
  useMembers,
  useRemoveMember,
  useSetRole,
} from "./use-members.ts";

export function MembersPart() {
  const isOwner = useIsOwner();
  const filters = useFilters();
  const { limit, offset } = filters;
  const { data, error, refetch } = useMembers({ limit, offset });
  return (
    <>
      <section aria-labelledby="members">
        <h2 id="members">Members</h2>
        <ErrorMessage error={error} onRetry={refetch} />
        {data === undefined ? !error && <Loading /> : <MemberTable members={data.members} />}
        {data && <Pager filters={filters} total={data.total} />}
      </section>
      {isOwner ? <Invitations /> : <p className="soft">Only owners can invite members.</p>}
    </>
  );
}

function MemberTable({ members }: { readonly members: readonly Member[] }) {
  const { me } = useCurrent();
  const isOwner = useIsOwner();
  const key = useKey();
  // One leaves an organization by oneself, not with others.
  const others = members.filter(({ id }) => id !== me.person.id);
  const selection = useSelection(others, ({ id }) => id);
  const actions = useMemberActions();
  const isSelectable = isOwner && others.length > 0;
  return (
    <>
      <Table
        label="List of members"
        columns={["Name", "Email", "Role", "Joined", "!Actions"]}
        selection={isSelectable ? selection : undefined}
      >
        {members.map((member) => (
          <tr key={member.id} data-selected={selection.has(member.id) || undefined}>
            {isSelectable &&
              (member.id === me.person.id ? (
                <td />
              ) : (
                <SelectCell selection={selection} id={member.id} name={member.name} />
              ))}
            <th scope="row">
              {member.name} {member.id === me.person.id && <Badge tone="plain">you</Badge>}
            </th>
            <td>{member.email}</td>
            <td>{isOwner ? <Role member={member} /> : member.role}</td>
            <td>
              <Time at={member.joined_at} />
            </td>
            <td className="row-actions">
              {isOwner && member.id !== me.person.id && <PasswordReset member={member} />}
              {(isOwner || member.id === me.person.id) && (
                <Removal member={member} isSelf={member.id === me.person.id} />
              )}
            </td>
          </tr>
        ))}
      </Table>
      <SelectionBar
        selection={selection}
        noun={{ one: "member", many: "members" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("members")]}
      />
    </>
  );
}

function Role({ member }: { readonly member: Member }) {
  const change = useSetRole(member);
  return (
    <SelectField
      label={`Role of ${member.name}`}
      isLabelHidden
      value={change.isPending ? change.variables : member.role}
      onChange={(event) => change.mutate(event.currentTarget.value === "owner" ? "owner" : "member")}
    >
      <option value="member">member</option>
      <option value="owner">owner</option>
    </SelectField>
  );
}

/** For a member who forgot their password: a link by which they choose a new one. */
function PasswordReset({ member }: { readonly member: Member }) {
  const create = useCreatePasswordLink(member.id);
  const [isOpen, setOpen] = useState(false);
  const act = { ...create, mutateAsync: () => create.mutateAsync() };
  return (
    <>
      <Button variant="quiet" aria-label={`Reset password of ${member.name}`} onClick={() => setOpen(true)}>
        Reset password
      </Button>
      <Confirm
        title={`Reset the password of ${member.name}?`}
        confirmLabel="Create link"
        act={act}
        isOpen={isOpen && create.data === undefined}
        onClose={() => setOpen(false)}
      >
        <p>
          You get a link by which {member.name} chooses a new password. The present one works until the link
          is used; then all of their sessions end.
        </p>
      </Confirm>
      <Secret
        title="Link for a new password"
        about={`Send this link to ${member.name} over a channel that only they read. It works once, within an hour. You will not see it again.`}
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

function Removal({ member, isSelf }: RemovalProps) {
  const [, go] = useLocation();
  const remove = useRemoveMember(member.id, isSelf);
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      if (isSelf) go("/");
    },
  };
  return (
    <ConfirmButton
      label={isSelf ? "Leave" : "Remove"}
      accessibleName={isSelf ? "Leave organization" : `Remove ${member.name}`}
      variant="quiet"
      title={isSelf ? "Leave the organization?" : `Remove ${member.name}?`}
      confirmLabel={isSelf ? "Leave organization" : "Remove member"}
      act={act}
    >
      <p>{isSelf ? "You lose" : `${member.name} loses`} access to the organization.</p>
    </ConfirmButton>
  );
}
