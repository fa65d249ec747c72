/** Invitation links: each makes one person a member within seven days. */
import type { Invitation } from "atrium/server";
import { useState } from "react";
import { useKey } from "../data/organization.tsx";
import { type Selection, useSelection } from "../data/use-selection.ts";
import { Button } from "../ui/button.tsx";
import { Secret } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useInvitationActions, useInvitations, useInvite, useWithdrawInvitation } from "./use-members.ts";

export function Invitations() {
  const { data, error, refetch } = useInvitations();
  return (
    <section aria-labelledby="invitations">
      <div className="title-row">
        <h2 id="invitations">Invitations</h2>
        <NewInvitation />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && <InvitationTable invitations={data.invitations} />}
      {data?.total === 0 && (
        <p className="soft">No pending invitations. An invitation is a link for one person.</p>
      )}
    </section>
  );
}

const whomFor = ({ email }: Invitation): string => email ?? "anyone with the link";

function InvitationTable({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const key = useKey();
  const selection = useSelection(invitations, ({ id }) => id);
  const actions = useInvitationActions();
  return (
    <>
      {invitations.length > 0 && (
        <Table
          label="List of invitations"
          columns={["Role", "For", "Expires", "!Actions"]}
          selection={selection}
        >
          {invitations.map((invitation) => (
            <Row key={invitation.id} invitation={invitation} selection={selection} />
          ))}
        </Table>
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "invitation", many: "invitations" }}
        nameOf={whomFor}
        actions={actions}
        invalidates={[key("invitations")]}
      />
    </>
  );
}

interface RowProps {
  readonly invitation: Invitation;
  readonly selection: Selection<Invitation>;
}

function Row({ invitation, selection }: RowProps) {
  const withdraw = useWithdrawInvitation(invitation.id);
  return (
    <tr data-selected={selection.has(invitation.id) || undefined}>
      <SelectCell
        selection={selection}
        id={invitation.id}
        name={`the invitation for ${whomFor(invitation)}`}
      />
      <th scope="row">{invitation.role}</th>
      <td>{whomFor(invitation)}</td>
      <td>
        <Time at={invitation.expires_at} />
      </td>
      <td className="row-actions">
        <Button variant="quiet" isBusy={withdraw.isPending} onClick={() => withdraw.mutate()}>
          Withdraw
        </Button>
      </td>
    </tr>
  );
}

/** How the link comes to the person. */
const howItArrives = (
  created: { readonly mailed: boolean; readonly invitation: Invitation } | undefined,
): string =>
  created?.mailed === true
    ? `This link is sent to ${created.invitation.email} by mail. You can also send it yourself.`
    : "Send this link to the person you invite.";

function NewInvitation() {
  const [isOpen, setOpen] = useState(false);
  const invite = useInvite();
  const close = () => {
    setOpen(false);
    invite.reset();
  };
  return (
    <>
      <Button variant="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        Invite member
      </Button>
      <Dialog title="Invite member" isOpen={isOpen && invite.data === undefined} onClose={close}>
        <Form
          submitLabel="Create link"
          error={invite.error}
          isBusy={invite.isPending}
          onCancel={close}
          onSubmit={({ role, email = "" }) =>
            invite.mutate({ role: role === "owner" ? "owner" : "member", email: email || null })
          }
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
        </Form>
      </Dialog>
      <Secret
        title="Invitation link"
        about={`${howItArrives(invite.data)} It works once, within seven days. You will not see it again.`}
        secret={invite.data?.url ?? null}
        what="the link"
        onDone={close}
      />
    </>
  );
}
