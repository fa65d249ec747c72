/** What can be done with one member: a link for a new password, and the removal. */
import type { Member } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmButton } from "../ui/confirm.tsx";
import { Secret } from "../ui/copy.tsx";
import { useCreatePasswordLink, useRemoveMember } from "./use-members.ts";

/** For a member who forgot their password: a link by which they choose a new one. */
export function PasswordReset({ member }: { readonly member: Member }) {
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

export function Removal({ member, isSelf }: RemovalProps) {
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
