/** Members and invitations on the wire. */

import * as z from "zod";
import { Timestamp } from "../time.ts";
import { Email, MEMBER_ROLES } from "./people.ts";

const MemberRole = z.enum(MEMBER_ROLES).meta({
  description: "Owners also manage members, invitations and API keys.",
});

export const Member = z
  .object({
    id: z.uuid(),
    name: z.string(),
    email: z.string(),
    role: MemberRole,
    joined_at: Timestamp,
  })
  .meta({
    id: "Member",
    example: {
      id: "5e1b6f0a-3c54-4a3e-9d0f-7a2c8b4d1e90",
      name: "Ada",
      email: "ada@example.com",
      role: "owner",
      joined_at: "2026-01-31T09:00:00.000Z",
    },
  });
export type Member = z.infer<typeof Member>;

export const MemberUpdate = z
  .strictObject({ role: MemberRole })
  .meta({ id: "MemberUpdate", example: { role: "owner" } });
export type MemberUpdate = z.infer<typeof MemberUpdate>;

export const Invitation = z
  .object({
    id: z.uuid(),
    role: MemberRole,
    email: z
      .string()
      .nullable()
      .meta({ description: "The only address that can accept it; `null` for any." }),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({
    id: "Invitation",
    example: {
      id: "9b7d2c1e-64f8-4f0b-8a35-0c5e7d9f2a46",
      role: "member",
      email: "bo@example.com",
      created_at: "2026-01-31T09:00:00.000Z",
      expires_at: "2026-02-07T09:00:00.000Z",
    },
  });
export type Invitation = z.infer<typeof Invitation>;

/** An invitation as the holder of its link sees it in the dashboard. */
export interface InvitationPreview {
  readonly organization: { readonly name: string };
  /** Null for an API key, or when the person who invited was deleted. */
  readonly invited_by: string | null;
}

export const InvitationCreation = z
  .strictObject({
    role: MemberRole.default("member"),
    email: Email.nullable().optional().meta({
      description: "The only address that can accept the invitation. Omit it, or use null, for any.",
    }),
  })
  .meta({ id: "InvitationCreation", example: { role: "member", email: "bo@example.com" } });
export type InvitationCreation = z.infer<typeof InvitationCreation>;
export type InvitationInput = z.input<typeof InvitationCreation>;
