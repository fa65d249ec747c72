/** Members and invitations as they are presented. */

import type { Invitation, Member } from "@atrium/contract/rest/members.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { InvitationRow, MembershipRow } from "./table.ts";

export const presentMember = ({ personId: id, name, email, role, joinedAt }: MembershipRow): Member => ({
  id,
  name,
  email,
  role,
  joined_at: presentTime(joinedAt),
});

export const presentInvitation = (row: InvitationRow): Invitation => ({
  id: row.id,
  role: row.role,
  email: row.email,
  created_at: presentTime(row.createdAt),
  expires_at: presentTime(row.expiresAt),
});
