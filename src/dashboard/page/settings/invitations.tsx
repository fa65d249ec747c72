/** Invitation links: each makes one person a member within seven days. */

import type { Invitation, Member } from "atrium/server";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { FormDialog, Secret } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";
import { oneByOne, SelectableTable } from "../ui/selectable.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const MAX_SHOWN = 100;

const recipientOf = ({ email }: Invitation): string => email ?? "anyone with the link";

const COLUMNS: readonly Column<Invitation>[] = [
  { label: "Role", cell: ({ role }) => role },
  { label: "For", cell: recipientOf },
  { label: "Expires", cell: ({ expires_at }) => <Time at={expires_at} /> },
  { label: "Actions", className: "row-actions", cell: ({ id }) => <Withdrawal id={id} /> },
];

export function Invitations() {
  const { organization } = useCurrent().atrium;
  const invitations = useApiQuery(["invitations"], () => organization.listInvitations({ limit: MAX_SHOWN }));
  return (
    <Section id="invitations" title="Invitations" beside={<NewInvitation />}>
      <Loaded query={invitations}>
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
              <p className="soft">No pending invitations. An invitation is a link for one person.</p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Withdrawal({ id }: { readonly id: string }) {
  const withdraw = useAction(({ organization }) => organization.withdrawInvitation(id), {
    notice: "Invitation withdrawn",
    refreshes: [["invitations"]],
    notifiesErrors: true,
  });
  return (
    <Button variant="quiet" isBusy={withdraw.isPending} onClick={() => withdraw.mutate()}>
      Withdraw
    </Button>
  );
}

/** `email` is null for anyone with the link. */
interface InvitationInput {
  readonly role: Member["role"];
  readonly email: string | null;
}

function NewInvitation() {
  const invite = useAction(
    ({ organization }, { role, email }: InvitationInput) => organization.invite(role, email),
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
        <SelectField label="Role" name="role" hint="Owners also manage members, invitations and API keys.">
          <option value="member">member</option>
          <option value="owner">owner</option>
        </SelectField>
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
