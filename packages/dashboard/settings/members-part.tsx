/** The organization's members, of whom several can be removed, and its invitations. */
import type { Invitation, Member } from "atrium/server";
import { useLocation } from "wouter";
import { ME } from "../data/api.ts";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent, useIsOwner } from "../data/organization.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { ActionButton, ConfirmAction, ConfirmButton, Secret } from "../ui/dialog.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { NAMED, SelectablePage, SelectableTable } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

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
        <SelectablePage
          label="List of members"
          noun={{ one: "member", many: "members" }}
          query={members}
          itemsOf={(data) => data.members}
          {...NAMED}
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
          empty={null}
        />
      </Section>
      {isOwner ? <Invitations /> : <p className="soft">Only owners can invite members.</p>}
    </>
  );
}

function Role({ member: { id, name, role: current } }: { readonly member: Member }) {
  const change = useAction(({ organization }, role: Member["role"]) => organization.setRole(id, role), {
    toast: ({ role }) => `${name} is ${role === "owner" ? "an owner" : "a member"} now`,
    undo: ({ organization }) => organization.setRole(id, current),
    refreshes: [["members"], ["invitations"], ME],
    notifiesErrors: true,
  });
  return (
    <SelectField
      label={`Role of ${name}`}
      isLabelHidden
      value={change.isPending ? change.variables : current}
      onChange={(event) => change.mutate(event.currentTarget.value === "owner" ? "owner" : "member")}
      options={["member", "owner"]}
    />
  );
}

/** Creates a link with which a member who forgot their password chooses a new one. */
function PasswordReset({ member: { id, name } }: { readonly member: Member }) {
  const create = useAction(({ organization }) => organization.createPasswordLink(id));
  return (
    <>
      <ConfirmButton
        label="Reset password"
        accessibleName={`Reset password of ${name}`}
        variant="quiet"
        title={`Reset the password of ${name}?`}
        confirmLabel="Create link"
        action={create}
      >
        <p>
          You get a link by which {name} chooses a new password. The present one works until the link is used;
          then all of their sessions end.
        </p>
      </ConfirmButton>
      <Secret
        title="Link for a new password"
        about={`Send this link to ${name} over a channel that only they read. It works once, within an hour. You will not see it again.`}
        secret={create.data?.url ?? null}
        what="the link"
        onDone={create.reset}
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
        toast: isSelf ? "You left the organization" : "Member removed",
        refreshes: [["members"], ME],
        onDone: () => isSelf && go("~/dashboard"),
      }}
    >
      <p>{isSelf ? "You lose" : `${name} loses`} access to the organization.</p>
    </ConfirmAction>
  );
}

const MAX_SHOWN = 100;

const recipientOf = ({ email }: Invitation): string => email ?? "anyone with the link";

const COLUMNS: readonly Column<Invitation>[] = [
  { label: "Role", cell: ({ role }) => role },
  { label: "For", cell: recipientOf },
  { label: "Expires", cell: ({ expires_at }) => <Time at={expires_at} /> },
  { label: "Actions", className: "row-actions", cell: ({ id }) => <Withdrawal id={id} /> },
];

function Invitations() {
  const { organization } = useCurrent().atrium;
  const invitations = useApiQuery(["invitations"], () => organization.listInvitations({ limit: MAX_SHOWN }));
  return (
    <Section id="invitations" title="Invitations" beside={<NewInvitation />}>
      <Loaded query={invitations} shape="list">
        {(data) => (
          <>
            <SelectableTable
              label="List of invitations"
              noun={{ one: "invitation", many: "invitations" }}
              items={data.invitations}
              idOf={({ id }) => id}
              nameOf={recipientOf}
              selectedName={(invitation) => `the invitation for ${recipientOf(invitation)}`}
              columns={COLUMNS}
              actions={[
                {
                  label: "Withdraw",
                  done: "withdrawn",
                  consequences: "Their links stop working.",
                  isDanger: true,
                  run: oneByOne(({ id }) => organization.withdrawInvitation(id)),
                },
              ]}
              refreshes={[["invitations"]]}
            />
            {data.total === 0 && (
              <Empty
                title="No pending invitations"
                create="Invite someone"
                command={["POST", "/invitations", { role: "member" }]}
              >
                An invitation is a link for one person.
              </Empty>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const Withdrawal = ({ id }: { readonly id: string }) => (
  <ActionButton
    label="Withdraw"
    act={({ organization }) => organization.withdrawInvitation(id)}
    options={{ toast: "Invitation withdrawn", refreshes: [["invitations"]] }}
  />
);

function NewInvitation() {
  const invite = useAction(
    ({ organization }, { role, email }: Pick<Invitation, "role" | "email">) =>
      organization.invite(role, email),
    { refreshes: [["invitations"]] },
  );
  const arrival =
    invite.data?.mailed === true
      ? `This link is sent to ${invite.data.invitation.email} by mail. You can also send it yourself.`
      : "Send this link to the person you invite.";
  return (
    <>
      <FormDialog
        button={{ variant: "primary", icon: "plus", "data-shortcut": "new", children: "Invite member" }}
        title="Invite member"
        submitLabel="Create link"
        action={invite}
        toInput={({ role, email = "" }) => ({
          role: role === "owner" ? "owner" : "member",
          email: email || null,
        })}
      >
        <SelectField
          label="Role"
          name="role"
          options={["member", "owner"]}
          hint="Owners also manage members, invitations and API keys."
        />
        <TextField
          label="Email"
          name="email"
          type="email"
          hint="Optional. Only a person with this address can then use the link. It is sent there by mail if this service sends mail."
        />
      </FormDialog>
      <Secret
        title="Invitation link"
        about={`${arrival} It works once, within seven days. You will not see it again.`}
        secret={invite.data?.url ?? null}
        what="the link"
        onDone={invite.reset}
      />
    </>
  );
}
