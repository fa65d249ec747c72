/** What invitations have in common, by an owner or by the operator. */

/** How long an invitation is valid. */
export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** A link's path below the address of the service. */
export const invitationPath = (token: string): string => `/dashboard/invitations/${token}`;
