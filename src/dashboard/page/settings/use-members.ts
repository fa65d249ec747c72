/** Queries and actions for members and invitations. */
import { useQuery } from "@tanstack/react-query";
import type { Invitation, Member, MemberSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import type { BulkAction } from "../ui/several.tsx";

export function useMembers(page: MemberSearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({ queryKey: key("members", page), queryFn: () => atrium.organization.listMembers(page) });
}

export function useRemoveMember(personId: string, isSelf: boolean) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.organization.removeMember(personId), {
    notice: isSelf ? "You left the organization" : "Member removed",
    invalidates: [key("members"), ["me"]],
    isForm: true,
  });
}

export function useSetRole({ id, name }: Member) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((role: Member["role"]) => atrium.organization.setRole(id, role), {
    notice: ({ role }) => `${name} is ${role === "owner" ? "an owner" : "a member"} now`,
    invalidates: [key("members"), key("invitations"), ["me"]],
  });
}

export function useCreatePasswordLink(personId: string) {
  const { atrium } = useCurrent();
  return useAction(() => atrium.organization.createPasswordLink(personId), { isForm: true });
}

export function useInvitations() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("invitations"),
    queryFn: () => atrium.organization.listInvitations({ limit: 100 }),
  });
}

/** Whom to invite; `email` is null for anyone with the link. */
interface NewInvitation {
  readonly role: Member["role"];
  readonly email: string | null;
}

export function useInvite() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(({ role, email }: NewInvitation) => atrium.organization.invite(role, email), {
    invalidates: [key("invitations")],
    isForm: true,
  });
}

export function useWithdrawInvitation(invitationId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.organization.withdrawInvitation(invitationId), {
    notice: "Invitation withdrawn",
    invalidates: [key("invitations")],
  });
}

/** What can be done with several members. */
export function useMemberActions(): readonly BulkAction<Member>[] {
  const { organization } = useCurrent().atrium;
  return [
    {
      label: "Remove",
      done: "removed",
      consequences: "They lose access to the organization.",
      isDanger: true,
      run: oneByOne(({ id }) => organization.removeMember(id)),
    },
  ];
}

/** What can be done with several invitations. */
export function useInvitationActions(): readonly BulkAction<Invitation>[] {
  const { organization } = useCurrent().atrium;
  return [
    {
      label: "Withdraw",
      done: "withdrawn",
      consequences: "Their links stop working.",
      isDanger: true,
      run: oneByOne(({ id }) => organization.withdrawInvitation(id)),
    },
  ];
}
