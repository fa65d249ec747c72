/** The table of members, of whom several can be removed. */
import type { Member } from "atrium/server";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";
import type { Filters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { Badge } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { PasswordReset, Removal } from "./member-actions.tsx";
import { useMemberActions, useSetRole } from "./use-members.ts";

const COLUMNS = [
  { label: "Name", sort: "name" },
  { label: "Email", sort: "email" },
  { label: "Role", sort: "role" },
  { label: "Joined", sort: "joined_at" },
  "!Actions",
];

interface MemberTableProps {
  readonly members: readonly Member[];
  readonly filters: Filters;
}

export function MemberTable({ members, filters }: MemberTableProps) {
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
        columns={COLUMNS}
        filters={filters}
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
