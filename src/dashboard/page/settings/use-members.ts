/** The people of the organization, and those who are invited. */
import { useQuery } from "@tanstack/react-query";
import type { Member } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

export interface Part {
  readonly limit: number;
  readonly offset: number;
}

export function useMembers(page: Part) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({ queryKey: key("members", page), queryFn: () => atrium.organization.listMembers(page) });
}

export function useRemoveMember(personId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.organization.removeMember(personId), {
    done: "Member removed",
    touches: [key("members"), ["me"]],
    isForm: true,
  });
}

export function useInvitations() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("invitations"),
    queryFn: () => atrium.organization.listInvitations({ limit: 100 }),
  });
}

export function useInvite() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((role: Member["role"]) => atrium.organization.invite(role), {
    touches: [key("invitations")],
    isForm: true,
  });
}

export function useWithdrawInvitation(invitationId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.organization.withdrawInvitation(invitationId), {
    done: "Invitation withdrawn",
    touches: [key("invitations")],
  });
}
