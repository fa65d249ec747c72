/** Invitation links: each makes one person a member within seven days. */
import type { Invitation } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Form } from "../ui/form.tsx";
import { Secret } from "../ui/secret.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { Table } from "../ui/table.tsx";
import { TextField } from "../ui/text-field.tsx";
import { Time } from "../ui/time.tsx";
import { useInvitations, useInvite, useWithdrawInvitation } from "./use-members.ts";

export function Invitations() {
  const { data, error, refetch } = useInvitations();
  return (
    <section aria-labelledby="invitations">
      <div className="title-row">
        <h2 id="invitations">Invitations</h2>
        <NewInvitation />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && data.invitations.length > 0 && (
        <Table label="List of invitations" columns={["Role", "For", "Expires", "!Actions"]}>
          {data.invitations.map((invitation) => (
            <Row key={invitation.id} invitation={invitation} />
          ))}
        </Table>
      )}
      {data?.total === 0 && (
        <p className="soft">No pending invitations. An invitation is a link that you send yourself.</p>
      )}
    </section>
  );
}

function Row({ invitation }: { readonly invitation: Invitation }) {
  const withdraw = useWithdrawInvitation(invitation.id);
  return (
    <tr>
      <th scope="row">{invitation.role}</th>
      <td>{invitation.email ?? "anyone with the link"}</td>
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
            hint="Optional. Only a person with this address can then use the link."
          />
        </Form>
      </Dialog>
      <Secret
        title="Invitation link"
        about="Send this link to the person you invite. It works once, within seven days. You will not see it again."
        secret={invite.data?.url ?? null}
        what="the link"
        onDone={close}
      />
    </>
  );
}
