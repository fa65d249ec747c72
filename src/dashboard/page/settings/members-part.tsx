/** The organization's members and invitations. */
import type { Member } from "atrium/server";
import { useCurrent, useIsOwner } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Invitations } from "./invitations.tsx";
import { useMembers, useRemoveMember } from "./use-members.ts";

export function MembersPart() {
  const isOwner = useIsOwner();
  const { limit, offset, goTo } = usePage();
  const { data, error, refetch } = useMembers({ limit, offset });
  return (
    <>
      <section aria-labelledby="members">
        <h2 id="members">Members</h2>
        <ErrorMessage error={error} onRetry={refetch} />
        {data === undefined ? !error && <Loading /> : <MemberTable members={data.members} />}
        {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
      </section>
      {isOwner ? <Invitations /> : <p className="soft">Only owners can invite members.</p>}
    </>
  );
}

function MemberTable({ members }: { readonly members: readonly Member[] }) {
  const { me } = useCurrent();
  const isOwner = useIsOwner();
  return (
    <Table label="List of members" columns={["Name", "Email", "Role", "Joined", "!Actions"]}>
      {members.map((member) => (
        <tr key={member.id}>
          <th scope="row">
            {member.name} {member.id === me.person.id && <Badge tone="plain">you</Badge>}
          </th>
          <td>{member.email}</td>
          <td>{member.role}</td>
          <td>
            <Time at={member.joined_at} />
          </td>
          <td className="row-actions">
            {(isOwner || member.id === me.person.id) && (
              <Removal member={member} isSelf={member.id === me.person.id} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface RemovalProps {
  readonly member: Member;
  readonly isSelf: boolean;
}

function Removal({ member, isSelf }: RemovalProps) {
  const remove = useRemoveMember(member.id);
  return (
    <ConfirmButton
      label={isSelf ? "Leave" : "Remove"}
      accessibleName={isSelf ? "Leave organization" : `Remove ${member.name}`}
      variant="quiet"
      title={isSelf ? "Leave the organization?" : `Remove ${member.name}?`}
      confirmLabel={isSelf ? "Leave organization" : "Remove member"}
      act={remove}
    >
      <p>{isSelf ? "You lose" : `${member.name} loses`} access to the organization.</p>
    </ConfirmButton>
  );
}
